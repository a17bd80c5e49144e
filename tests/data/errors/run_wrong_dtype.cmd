run run_missing_input.pld --in x=data/f64.npy --scalar k=1
