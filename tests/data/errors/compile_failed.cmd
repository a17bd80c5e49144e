build --cxx=false -j 1 -o %t/out run_missing_input.pld
