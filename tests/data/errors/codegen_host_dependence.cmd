build --target=mpi --emit-only -o %t/out %s
