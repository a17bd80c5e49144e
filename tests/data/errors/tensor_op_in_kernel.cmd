check --property=IncoreTileOps %s
