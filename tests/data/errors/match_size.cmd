check --ranks 4 %s
