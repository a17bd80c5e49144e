run run_missing_input.pld --in x=data/none.npy --scalar k=1
