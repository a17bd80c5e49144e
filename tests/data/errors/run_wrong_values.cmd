run run_missing_input.pld --in x=data/f32.npy --scalar k=1 --expect y=data/other.npy
