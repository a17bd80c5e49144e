build --emit-only -o %t %s
