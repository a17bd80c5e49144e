" Indentation of programs of pldc: a level deeper behind a line that ends with ':', a level back behind what leaves a block.
if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal indentexpr=PldIndent(v:lnum)
setlocal indentkeys=!^F,o,O,<:>,=elif,=else
setlocal nolisp autoindent

let b:undo_indent = 'setlocal indentexpr< indentkeys< lisp< autoindent<'

if exists('*PldIndent')
  finish
endif

function! PldIndent(lnum)
  let before = prevnonblank(a:lnum - 1)
  if before == 0
    return 0
  endif
  let depth = indent(before)
  let line = substitute(getline(before), '\s*#.*$', '', '')
  if getline(a:lnum) =~# '^\s*\(elif\|else\)\>'
    return line =~# ':$' ? depth : max([0, depth - shiftwidth()])
  endif
  if line =~# ':$'
    return depth + shiftwidth()
  endif
  if line =~# '^\s*\(return\|break\|continue\|pass\)\>'
    return max([0, depth - shiftwidth()])
  endif
  return depth
endfunction
