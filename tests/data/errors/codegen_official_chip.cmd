build --target=ascend --emit=chips -o - %s
