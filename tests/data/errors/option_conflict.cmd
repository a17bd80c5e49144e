fmt -i --check run_missing_input.pld
