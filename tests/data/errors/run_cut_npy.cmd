run run_missing_input.pld --in x=data/cut.npy --scalar k=1
