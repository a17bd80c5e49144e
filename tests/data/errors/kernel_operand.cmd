build --emit=kernels -o - %s
