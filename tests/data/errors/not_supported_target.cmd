build --target=mpi run_missing_input.pld
