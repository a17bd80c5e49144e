opt --verify-each %s
