build --target=ascend --emit=kernels -o - %s
