check no_such_file.pld
