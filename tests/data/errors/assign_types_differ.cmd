check --property=AssignTypeSymmetry %s
