fmt --check %s
