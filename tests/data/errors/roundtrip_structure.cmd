roundtrip --semantic --style=concise %s
