check --property=AtomicAddDtypeValid %s
