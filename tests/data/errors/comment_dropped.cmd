fmt %s
