check --property=InlineFunctionsEliminated %s
