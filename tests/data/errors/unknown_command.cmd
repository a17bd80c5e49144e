chekc run_missing_input.pld
