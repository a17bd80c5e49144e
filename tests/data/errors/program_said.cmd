run program_said.pld --ranks 2 --random --diag-format=json
