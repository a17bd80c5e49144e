// Text search: in the stage that is shown, and how many lines of every other stage have the text.

const SEARCH = {term: '', exact: false, hits: [], at: -1};

const searchCounts = new Map();  // text: lines, for the present term
const caseOf = (line) => (SEARCH.exact ? line : line.toLowerCase());

function searchCount(stage) {
  let count = 0;
  for (const text of [stage.text.head, ...stage.text.functions.map((f) => f.text)]) {
    if (!searchCounts.has(text)) searchCounts.set(text, linesOf(text).filter((line) => caseOf(line).includes(SEARCH.term)).length);
    count += searchCounts.get(text);
  }
  return count;
}

// Lines of the stage that have the term: in the text after the pass and, in a comparison, in lines that it removed.
function findHits() {
  const out = [];
  const compare = layoutNow() !== 'full';
  for (const piece of shownPieces) {
    let a = 0;
    let b = 0;
    const look = (text, side, from, count) => {
      const lines = linesOf(text);
      for (let i = from; i < from + count; ++i) if (caseOf(lines[i]).includes(SEARCH.term)) out.push({piece, side, line: i});
    };
    for (let i = 0; i < piece.runs.length; i += 3) {
      const [same, removed, added] = piece.runs.slice(i, i + 3);
      if (piece.after >= 0) look(piece.after, 'b', b, same);
      a += same;
      b += same;
      if (compare && removed) look(piece.before, 'a', a, removed);
      if (piece.after >= 0) look(piece.after, 'b', b, added);
      a += removed;
      b += added;
    }
  }
  return out;
}

function search(term) {
  SEARCH.exact = term !== term.toLowerCase();
  SEARCH.term = term;
  searchCounts.clear();
  drawSide();
  searchAgain(true);
}

function searchAgain(jump) {
  SEARCH.hits = SEARCH.term ? findHits() : [];
  SEARCH.at = -1;
  for (const table of document.querySelectorAll('table.rows')) if (table.filled) table.fill();
  if (jump && SEARCH.hits.length) goHit(1);
  else drawCount();
}

function drawCount() {
  $('search-count').textContent = !SEARCH.term ? '' : !SEARCH.hits.length ? 'none'
    : SEARCH.at < 0 ? plural(SEARCH.hits.length, 'line') : `${SEARCH.at + 1} of ${SEARCH.hits.length}`;
}

function goHit(direction) {
  if (!SEARCH.hits.length) return;
  SEARCH.at = (SEARCH.at + direction + SEARCH.hits.length) % SEARCH.hits.length;
  if (SEARCH.at < 0) SEARCH.at = SEARCH.hits.length - 1;
  const {piece, side, line} = SEARCH.hits[SEARCH.at];
  revealLine(piece, side, line);
  drawCount();
}

// Unfolds what hides the line and goes there.
function revealLine(piece, side, line) {
  if (!piece.open) openPiece(piece, true);
  const find = () => piece.rows.findIndex((row) => row.kind !== 'gap' && row[side] === line);
  let index = find();
  if (index < 0) {
    for (const row of piece.rows) {
      if (row.kind !== 'gap' || line < row[side] || line >= row[side] + row.lines) continue;
      const hidden = piece.hidden.get(row.run);
      const at = hidden[0] + line - row[side];
      if (at - hidden[0] < hidden[1] - at) hidden[0] = Math.min(hidden[1], at + CONTEXT + 1);
      else hidden[1] = Math.max(hidden[0], at - CONTEXT);
      break;
    }
    drawRows(piece, piece.body, layoutNow());
    index = find();
  }
  hunksChanged();
  const row = index < 0 ? null : rowElement(piece.body, index);
  if (row) scrollToRow(row);
}
