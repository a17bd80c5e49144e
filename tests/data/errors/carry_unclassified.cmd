check --property=IterArgCarryClassified %s
