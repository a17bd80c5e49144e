fmt -o %t/canonical_lost.pld %s
