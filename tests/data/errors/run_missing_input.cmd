run %s
