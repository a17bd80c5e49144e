run --seed=7 run_missing_input.pld
