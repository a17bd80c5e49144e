check --property=OutParamNotShadowed %s
