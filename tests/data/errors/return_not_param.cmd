check --property=ReturnParamsExplicit %s
