check --property=RuntimeScopesMaterialized %s
