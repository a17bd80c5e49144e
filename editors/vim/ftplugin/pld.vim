" Settings for programs of pldc.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal commentstring=#\ %s
setlocal comments=b:#
setlocal expandtab shiftwidth=4 softtabstop=4
" 'pl.tile.load' is one name for K, which asks pldc about it.
setlocal keywordprg=pldc\ explain
setlocal iskeyword=@,48-57,_,.
setlocal formatoptions-=t formatoptions+=croql

let b:undo_ftplugin = 'setlocal commentstring< comments< expandtab< shiftwidth< softtabstop< keywordprg< iskeyword< formatoptions<'
