check --property=CallDirectionsResolved %s
