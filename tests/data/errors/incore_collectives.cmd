opt --passes=LowerCompositeOps -o %t/out.pld %s
