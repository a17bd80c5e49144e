opt --no-verify %s
