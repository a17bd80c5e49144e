check @data/none.args
