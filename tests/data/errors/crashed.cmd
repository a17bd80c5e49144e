check --crash=check --diag-format=json %s
