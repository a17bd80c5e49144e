check --property=NoNestedCalls %s
