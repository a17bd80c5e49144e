// One function of a stage as rows of lines, side by side, stacked, or as it is after the pass.

const CONTEXT = 3;        // unchanged lines around a change
const LEAST_HIDDEN = 4;   // fewer are shown
const STEP = 20;          // lines that one click shows
const BLOCK = 120;        // rows that are filled in together
const ROW_HEIGHT = 20;    // an estimate, until a block has been on the screen

// Which lines of each run of unchanged ones are hidden: [first, last) counted in the run. Changed by clicks and jumps.
function hiddenOf(piece, at, length, isFirst, isLast) {
  if (!piece.hidden) piece.hidden = new Map();
  if (!piece.hidden.has(at)) {
    const first = isFirst ? 0 : CONTEXT;
    const last = length - (isLast ? 0 : CONTEXT);
    piece.hidden.set(at, last - first >= LEAST_HIDDEN ? [first, last] : [0, 0]);
  }
  return piece.hidden.get(at);
}

// Rows: {kind, a, b} with line numbers from 0; kinds: same, edit, del, add, gap.
function rowsOf(piece, view) {
  const rows = [];
  if (view === 'full') {
    linesOf(piece.after).forEach((_, b) => rows.push({kind: 'same', a: -1, b}));
    return rows;
  }
  const before = linesOf(piece.before);
  const after = linesOf(piece.after);
  let a = 0;
  let b = 0;
  for (let i = 0; i < piece.runs.length; i += 3) {
    const [same, removed, added] = piece.runs.slice(i, i + 3);
    const [first, last] = piece.changed ? hiddenOf(piece, i, same, i === 0, a + same === before.length && removed + added === 0)
      : [0, 0];
    for (let k = 0; k < same; ++k) {
      if (k === first && last > first) {
        rows.push({kind: 'gap', run: i, lines: last - first, a: a + k, b: b + k});
        k = last - 1;
      } else {
        rows.push({kind: 'same', a: a + k, b: b + k});
      }
    }
    a += same;
    b += same;
    changeRows(rows, before, after, a, removed, b, added, view);
    a += removed;
    b += added;
  }
  return rows;
}

function changeRows(rows, before, after, a, removed, b, added, view) {
  if (removed + added === 0) return;
  const start = rows.length;
  const pairs = pairLines(before.slice(a, a + removed), after.slice(b, b + added));
  if (view === 'stack') {
    const partner = new Array(added).fill(-1);
    pairs.forEach((j, i) => { if (j >= 0) partner[j] = i; });
    for (let i = 0; i < removed; ++i) rows.push({kind: 'del', a: a + i, b: -1, other: pairs[i] < 0 ? -1 : b + pairs[i]});
    for (let j = 0; j < added; ++j) rows.push({kind: 'add', a: -1, b: b + j, other: partner[j] < 0 ? -1 : a + partner[j]});
  } else {
    let next = 0;
    const addUpTo = (end) => { for (; next < end; ++next) rows.push({kind: 'add', a: -1, b: b + next}); };
    for (let i = 0; i < removed; ++i) {
      if (pairs[i] < 0) {
        rows.push({kind: 'del', a: a + i, b: -1});
      } else {
        addUpTo(pairs[i]);
        rows.push({kind: 'edit', a: a + i, b: b + pairs[i]});
        next = pairs[i] + 1;
      }
    }
    addUpTo(added);
  }
  rows[start].hunk = true;
}

// ---- nodes

const numberCell = (line) => el('td', {class: 'n', 'data-n': line < 0 ? '' : line + 1});

function codeCell(line, kind, marks) {
  const cell = el('td', {class: 'c ' + kind});
  cell.style.setProperty('--in', /^ */.exec(line)[0].length);
  cell.append(lineNodes(line, marks));
  return cell;
}

function hits(line, from) {
  const marks = from ? from.slice() : [];
  const term = SEARCH.term;
  if (!term) return marks;
  const text = SEARCH.exact ? line : line.toLowerCase();
  for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + term.length)) marks.push([at, at + term.length, 'hit']);
  return marks;
}

function gapRow(piece, row, span, redraw) {
  const open = (change) => (event) => {
    event.stopPropagation();
    const hidden = piece.hidden.get(row.run);
    change(hidden);
    redraw();
  };
  const cell = el('td', {class: 'gap', colspan: span});
  const bar = el('div', {class: 'gap-bar'});
  if (row.lines > STEP * 2) {
    bar.append(el('button', {title: `Show ${STEP} more lines above`, onclick: open((h) => { h[0] += STEP; })}, `↓ ${STEP}`));
  }
  bar.append(el('button', {class: 'gap-all', title: 'Show them', onclick: open((h) => { h[0] = h[1] = 0; })},
    `${plural(row.lines, 'unchanged line')}`));
  if (row.lines > STEP * 2) {
    bar.append(el('button', {title: `Show ${STEP} more lines below`, onclick: open((h) => { h[1] -= STEP; })}, `↑ ${STEP}`));
  }
  cell.append(bar);
  return el('tr', {class: 'gap-row'}, cell);
}

function rowNode(piece, row, view, redraw) {
  if (row.kind === 'gap') return gapRow(piece, row, view === 'full' ? 2 : 4, redraw);
  const before = linesOf(piece.before);
  const after = linesOf(piece.after);
  const tr = el('tr', {class: row.kind + (row.hunk ? ' hunk' : '')});
  if (view === 'full') {
    tr.append(numberCell(row.b), codeCell(after[row.b], 'same', hits(after[row.b])));
  } else if (view === 'split') {
    const marks = row.kind === 'edit' ? changesInside(before[row.a], after[row.b]) : null;
    const side = (lines, at, kind, of) => {
      tr.append(numberCell(at));
      tr.append(at < 0 ? el('td', {class: 'c none'}) : codeCell(lines[at], kind, hits(lines[at], marks && marks[of])));
    };
    side(before, row.a, row.kind === 'same' ? 'same' : 'old', 0);
    side(after, row.b, row.kind === 'same' ? 'same' : 'new', 1);
  } else {
    const old = row.kind === 'del';
    const line = old ? before[row.a] : after[row.b];
    let marks = null;
    if (row.other >= 0) {
      const both = old ? changesInside(line, after[row.other]) : changesInside(before[row.other], line);
      marks = both && both[old ? 0 : 1];
    }
    const kind = row.kind === 'same' ? 'same' : old ? 'old' : 'new';
    tr.append(numberCell(row.a), numberCell(row.b));
    tr.append(el('td', {class: 'sign ' + kind}, row.kind === 'same' ? '' : old ? '−' : '+'));
    tr.append(codeCell(line, kind, hits(line, marks)));
  }
  return tr;
}

// ---- blocks: rows are made when they come near to the screen

const nearby = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting && entry.target.fill) entry.target.fill();
  }
}, {rootMargin: '600px 0px'});

function columns(view, digits) {
  const n = () => el('col', {class: 'col-n'});
  const group = el('colgroup', {});
  group.style.setProperty('--digits', digits);
  if (view === 'full') group.append(n(), el('col'));
  else if (view === 'split') group.append(n(), el('col'), n(), el('col'));
  else group.append(n(), n(), el('col', {class: 'col-sign'}), el('col'));
  return group;
}

function blockNode(piece, rows, from, view, redraw) {
  const to = Math.min(rows.length, from + BLOCK);
  const table = el('table', {class: 'rows ' + view});
  const digits = String(Math.max(linesOf(piece.before).length, linesOf(piece.after).length)).length;
  table.style.setProperty('--digits', Math.max(2, digits));
  table.style.height = `${(to - from) * ROW_HEIGHT}px`;
  table.firstRow = from;
  table.fill = () => {
    table.style.height = '';
    const body = el('tbody', {});
    for (let i = from; i < to; ++i) body.append(rowNode(piece, rows[i], view, redraw));
    table.replaceChildren(columns(view, Math.max(2, digits)), body);
    table.filled = true;
    nearby.unobserve(table);
  };
  nearby.observe(table);
  return table;
}

// Fills `place` with the rows of the piece; the rows are kept in the piece.
function drawRows(piece, place, view) {
  const redraw = () => {
    drawRows(piece, place, view);
    hunksChanged();
  };
  const rows = rowsOf(piece, view);
  piece.rows = rows;
  place.replaceChildren();
  for (let from = 0; from < rows.length; from += BLOCK) place.append(blockNode(piece, rows, from, view, redraw));
  if (rows.length === 0) place.append(el('p', {class: 'empty'}, 'The function is gone.'));
}

// The row as it stands in the page, made if need be.
function rowElement(place, index) {
  const table = place.children[Math.floor(index / BLOCK)];
  if (!table || !table.fill) return null;
  if (!table.filled) table.fill();
  return table.querySelector('tbody').children[index - table.firstRow];
}
