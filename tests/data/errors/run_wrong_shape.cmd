run run_missing_input.pld --in x=data/shape.npy --scalar k=1
