build --emit-only -o %t/out %s
