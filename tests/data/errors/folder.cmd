check data
