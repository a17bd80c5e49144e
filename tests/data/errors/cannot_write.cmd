opt %s -o %s/out.pld
