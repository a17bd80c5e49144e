// Colours of the IR.

const WORDS = new Set(['def', 'class', 'return', 'for', 'in', 'if', 'else', 'elif', 'while', 'with', 'as', 'import', 'from',
  'break', 'continue', 'pass', 'and', 'or', 'not', 'is', 'lambda', 'raise', 'try', 'except', 'True', 'False', 'None']);
const TOKEN = /("""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|[rRbBfF]?"(?:\\.|[^"\\])*"?|[rRbBfF]?'(?:\\.|[^'\\])*'?)|(#.*)|(@[\w.]+)|(\b\d[\w.]*(?:[eE][+-]\d+)?)|([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*(?:\.[A-Za-z_]\w*)*)/g;

// The class of each piece of a line: [begin, end, class], in order, without the pieces that have none.
function colours(line) {
  const out = [];
  TOKEN.lastIndex = 0;
  for (let m = TOKEN.exec(line); m; m = TOKEN.exec(line)) {
    const begin = m.index;
    const end = begin + m[0].length;
    if (m[1]) out.push([begin, end, 'str']);
    else if (m[2]) out.push([begin, end, 'com']);
    else if (m[3]) out.push([begin, end, 'dec']);
    else if (m[4]) out.push([begin, end, 'num']);
    else nameColours(line, m[5], begin, end, out);
    if (m[0] === '') ++TOKEN.lastIndex;
  }
  return out;
}

function nameColours(line, name, begin, end, out) {
  const dot = name.indexOf('.');
  const head = dot < 0 ? name : name.slice(0, dot);
  if (dot < 0) {
    if (WORDS.has(name)) out.push([begin, end, 'key']);
    else if (/\bdef $/.test(line.slice(Math.max(0, begin - 4), begin))) out.push([begin, end, 'fun']);
    return;
  }
  if (head === 'self') {
    out.push([begin, begin + dot, 'mod'], [begin + dot + 1, end, 'fun']);
    return;
  }
  if (line[end] === '(') out.push([begin, begin + dot, 'mod'], [begin + dot, end, 'op']);
  else if (/\.[A-Z]/.test(name)) out.push([begin, begin + dot, 'mod'], [begin + dot, end, 'typ']);
}

// A line as nodes. `marks`: [begin, end, class] that lie over the colours (changes, matches), in order.
function lineNodes(line, marks) {
  const pieces = colours(line);
  const cuts = new Set([0, line.length]);
  for (const [begin, end] of pieces) { cuts.add(begin); cuts.add(end); }
  for (const [begin, end] of marks || []) { cuts.add(begin); cuts.add(end); }
  const at = [...cuts].sort((a, b) => a - b);
  const out = document.createDocumentFragment();
  let piece = 0;
  for (let i = 0; i + 1 < at.length; ++i) {
    while (piece < pieces.length && pieces[piece][1] <= at[i]) ++piece;
    const classes = [];
    if (piece < pieces.length && pieces[piece][0] <= at[i]) classes.push(pieces[piece][2]);
    for (const [begin, end, kind] of marks || []) {
      if (begin <= at[i] && at[i + 1] <= end) classes.push(kind);
    }
    const text = line.slice(at[i], at[i + 1]);
    out.append(classes.length ? el('span', {class: classes.join(' ')}, text) : text);
  }
  return out;
}
