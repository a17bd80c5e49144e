opt --strict-signals %s
