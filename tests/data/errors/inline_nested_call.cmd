opt %s
