check --property=OrchestrationReferencesResolved %s
