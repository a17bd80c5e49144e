opt --passes=ConvertToSSA,NormalizeStmtStructure,FlattenCallExpr,ConvertTensorToTileOps %s
