trace %s ./%s
