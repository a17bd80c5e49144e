check --property=CommDomainScopesMaterialized %s
