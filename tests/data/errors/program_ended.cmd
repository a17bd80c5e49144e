run %s --random --scalar n=5
