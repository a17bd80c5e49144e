build --passes=NONE --emit-only -o %t/out %s
