opt --passes=ConvertToSSA --no-verify %s
