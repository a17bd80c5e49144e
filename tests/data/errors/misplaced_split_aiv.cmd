check --property=AivSplitValid %s
