check --max-errors=2 %s
