fmt -i %s
