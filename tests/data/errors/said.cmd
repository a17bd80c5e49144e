check -v --diag-format=json %s
