run run_missing_input.pld --diag-format=json
