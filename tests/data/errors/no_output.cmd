build --emit=chips -o - %s
