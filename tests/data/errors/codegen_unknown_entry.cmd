build --emit-only --entry=nobody -o %t/out run_missing_input.pld
