opt --passes=ConvertToSSA %s
