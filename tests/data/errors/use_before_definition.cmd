check --property=UseAfterDef %s
