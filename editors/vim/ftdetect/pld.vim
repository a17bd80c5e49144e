" Vim takes this suffix for another language's, so it is set whatever was found before.
autocmd BufNewFile,BufRead *.pld set filetype=pld
