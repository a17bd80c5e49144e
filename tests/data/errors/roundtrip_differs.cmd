roundtrip %s
