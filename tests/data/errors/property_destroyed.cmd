opt --passes=ConvertToSSA,FlattenCallExpr %s
