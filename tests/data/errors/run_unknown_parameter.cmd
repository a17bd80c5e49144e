run run_missing_input.pld --in z=data/f32.npy --scalar k=1
