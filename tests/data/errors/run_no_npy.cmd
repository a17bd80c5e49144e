run run_missing_input.pld --in x=data/text.npy --scalar k=1
