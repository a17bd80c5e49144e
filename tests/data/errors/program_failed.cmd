run run_missing_input.pld --in x=data/f32.npy --diag-format=json
