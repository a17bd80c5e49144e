check -Wno-unusd run_missing_input.pld
