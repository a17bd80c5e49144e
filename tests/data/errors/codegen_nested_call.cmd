build --passes=NONE --emit=kernels -o - %s
