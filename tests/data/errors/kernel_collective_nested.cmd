opt --passes=LowerCompositeOps %s
