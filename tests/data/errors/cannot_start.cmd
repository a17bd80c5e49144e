build --cxx=no-such-compiler run_missing_input.pld -o %t/out
