check --property=SSAForm %s
