check @none.args
