check --ranks 65 %s
