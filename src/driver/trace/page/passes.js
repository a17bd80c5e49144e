// The first tab: the list of passes, the list of functions, and the stage that is looked at.

const $ = (id) => document.getElementById(id);

const VIEW = {stage: 0, layout: 'split', wrap: true, filter: 'ran', glob: '', tab: 'passes'};

const FILTERS = [
  ['ran', 'Ran', (s) => s.state !== 'missing'],
  ['changed', 'Changed', (s) => ['changed', 'failed', 'read'].includes(s.state)],
  ['same', 'No change', (s) => s.state === 'same' || s.state === 'unprinted'],
  ['all', 'All', () => true],
];

const STATE_WORDS = {
  read: 'read', changed: '', same: '—', unprinted: '—', missing: 'not in pldc', failed: 'failed', unreached: 'not reached',
};

const STATE_TEXTS = {
  read: 'The program as it was read, in canonical form.',
  same: 'This pass changed nothing.',
  unprinted: 'This pass changed nothing that is printed.',
  missing: 'pldc does not have this pass and does without it: the program goes through unchanged.',
  failed: 'The run ended here. Below is the program as this pass was given it.',
  unreached: 'The run ended before this pass.',
};

let pieces = [];      // of the stage that is shown
let shownPieces = []; // those that the glob lets through
let hunks = [];       // [piece, row] of the changes, in order
let hunkAt = -1;

const stageNow = () => STAGES[VIEW.stage];
// There is nothing to compare the first text with.
const layoutNow = () => (stageNow().state === 'read' ? 'full' : VIEW.layout);

function filterOf(name) { return FILTERS.find((f) => f[0] === name) || FILTERS[0]; }

function drawFilters() {
  $('filters').replaceChildren(...FILTERS.map(([name, text, test]) => el('button', {
    id: `filter-${name}`, 'aria-pressed': String(VIEW.filter === name),
    onclick: () => { VIEW.filter = name; drawSide(); remember(); },
  }, text, el('span', {class: 'count'}, String(STAGES.filter((s) => test(s) && s.index > 0).length)))));
}

const changeMarks = (added, removed) => [
  added ? el('span', {class: 'plus'}, `+${added}`) : null,
  removed ? el('span', {class: 'minus'}, `−${removed}`) : null,
];

function passItem(stage) {
  const marks = el('span', {class: 'marks'});
  if (stage.state === 'changed') marks.append(...changeMarks(stage.added, stage.removed).filter(Boolean));
  else marks.append(el('span', {class: 'word'}, STATE_WORDS[stage.state]));
  const found = SEARCH.term ? searchCount(stage) : 0;
  return el('li', {class: `pass ${stage.state}`, 'data-index': stage.index},
    el('button', {'aria-current': stage.index === VIEW.stage ? 'true' : 'false', title: stage.about ? `${stage.name}: ${stage.about}` : stage.name,
      onclick: () => show(stage.index)},
      el('span', {class: 'dot'}), el('span', {class: 'number'}, stage.number), el('span', {class: 'name'}, stage.name),
      SEARCH.term ? el('span', {class: 'found', title: 'lines with the text that is searched'}, found ? String(found) : '') : null,
      stage.diags.length ? el('span', {class: 'diag-mark', title: plural(stage.diags.length, 'diagnostic')}, '!') : null, marks));
}

function drawSide() {
  drawFilters();
  const test = filterOf(VIEW.filter)[2];
  const visible = STAGES.filter((s) => s.index === 0 || test(s));
  $('pass-list').replaceChildren(...visible.map(passItem));
  if (visible.length === 1) $('pass-list').append(el('li', {class: 'empty'}, 'No pass is like this.'));
}

function drawFunctions() {
  const test = globTest(VIEW.glob);
  $('function-list').replaceChildren(...pieces.filter((p) => test(functionName(p.name))).map((piece) => el('li', {
    class: 'function' + (piece.changed ? ' changed' : '')},
    el('button', {title: piece.kind, onclick: () => jumpToPiece(piece)},
      el('span', {class: 'name'}, functionName(piece.name)), el('span', {class: 'marks'}, ...changeMarks(piece.added, piece.removed))))));
  if (!$('function-list').children.length) $('function-list').append(el('li', {class: 'empty'}, 'No function has such a name.'));
}

// ---- diagnostics

function sourceNodes(d) {
  if (!d.source) return [];
  const [before, marked, after] = d.source;
  return [el('pre', {class: 'diag-source'}, d.cut[0] ? '…' : '', before, el('mark', {}, marked || ' '), after, d.cut[1] ? '…' : '')];
}

function diagnosticNode(d) {
  const place = (x) => (x.line ? `${x.file}:${x.line}:${x.column}` : '');
  return el('div', {class: `diag ${d.severity}`},
    el('div', {class: 'diag-head'}, el('b', {}, d.severity), el('code', {}, d.code), el('span', {class: 'diag-place'}, place(d))),
    el('div', {class: 'diag-text'}, d.message), sourceNodes(d),
    (d.notes || []).map((n) => el('div', {class: 'diag-note'}, `note: ${n.message}`, n.line ? el('span', {class: 'diag-place'}, ' ' + place(n)) : null,
      ...sourceNodes(n))),
    (d.help || []).map((h) => el('div', {class: 'diag-help'}, `help: ${h}`)));
}

// ---- the stage

function pieceNode(piece) {
  const body = el('div', {class: 'piece-body'});
  const state = piece.name < 0 ? '' : piece.before < 0 ? 'new' : piece.after < 0 ? 'gone' : piece.changed ? '' : 'unchanged';
  const lines = linesOf(piece.after < 0 ? piece.before : piece.after).length;
  const head = el('button', {class: 'piece-head', 'aria-expanded': 'false'},
    el('span', {class: 'fold'}), el('span', {class: 'piece-name'}, functionName(piece.name)),
    piece.kind ? el('span', {class: `kind kind-${piece.kind.replace(/\W.*/, '').toLowerCase()}`}, piece.kind) : null,
    state ? el('span', {class: `state ${state}`}, state) : null,
    el('span', {class: 'marks'}, ...changeMarks(piece.added, piece.removed)),
    el('span', {class: 'piece-lines'}, plural(lines, 'line')));
  const section = el('section', {class: 'piece' + (piece.changed ? ' changed' : '')}, head, body);
  piece.section = section;
  piece.body = body;
  piece.head = head;
  head.addEventListener('click', () => { openPiece(piece, !piece.open); hunksChanged(); });
  return section;
}

function openPiece(piece, open) {
  piece.open = open;
  piece.section.classList.toggle('open', open);
  piece.head.setAttribute('aria-expanded', String(open));
  if (open) drawRows(piece, piece.body, layoutNow());
  else piece.body.replaceChildren();
}

// Which functions stand open when a stage is shown: those that changed; all of them where there is nothing to compare.
function opensFirst(piece) {
  return layoutNow() === 'full' ? piece.after >= 0 : piece.changed;
}

function drawTitle(stage) {
  const changed = pieces.filter((p) => p.changed && p.name >= 0).length;
  const all = stage.text.functions.length;
  let summary = '';
  if (stage.state === 'changed') {
    summary = all === 0 && changed === 0 ? '' : `${changed} of ${plural(Math.max(all, changed), 'function')} changed`;
  }
  $('title').replaceChildren(el('span', {class: 'number'}, stage.number), el('h2', {}, stage.name),
    el('span', {class: 'marks'}, ...changeMarks(stage.added, stage.removed)),
    el('span', {class: 'summary'}, [summary, plural(stage.text.lines, 'line')].filter(Boolean).join(' · ')));
  const about = [];
  if (stage.about) about.push(el('p', {}, stage.about[0].toUpperCase() + stage.about.slice(1) + '.'));
  if (STATE_TEXTS[stage.state]) about.push(el('p', {class: 'note'}, STATE_TEXTS[stage.state]));
  $('about').replaceChildren(...about, ...stage.diags.map(diagnosticNode));
}

function drawStage() {
  const stage = stageNow();
  pieces = piecesOf(stage);
  const test = globTest(VIEW.glob);
  shownPieces = pieces.filter((p) => test(functionName(p.name)) && !(layoutNow() === 'full' && p.after < 0));
  drawTitle(stage);
  drawFunctions();
  for (const name of ['split', 'stack', 'full']) $(`view-${name}`).setAttribute('aria-pressed', String(VIEW.layout === name));
  $('wrap').setAttribute('aria-pressed', String(VIEW.wrap));
  document.body.classList.toggle('wrap', VIEW.wrap);
  const content = $('content');
  content.replaceChildren(...shownPieces.map(pieceNode));
  if (!shownPieces.length) {
    content.append(el('p', {class: 'empty'}, VIEW.glob ? `No function of this stage is named like ${VIEW.glob}.` : 'The program has no functions.'));
  }
  for (const piece of shownPieces) if (opensFirst(piece)) openPiece(piece, true);
  hunkAt = -1;
  hunksChanged();
}

function hunksChanged() {
  hunks = [];
  shownPieces.forEach((piece) => {
    if (piece.open) piece.rows.forEach((row, i) => { if (row.hunk) hunks.push([piece, i]); });
  });
  $('hunk-next').disabled = $('hunk-previous').disabled = hunks.length === 0;
}

function scrollToRow(row) {
  for (const old of document.querySelectorAll('tr.here')) old.classList.remove('here');
  row.classList.add('here');
  row.scrollIntoView({block: 'center'});
}

function goHunk(step) {
  if (!hunks.length) return say('Nothing changed here.');
  hunkAt = hunkAt < 0 ? (step > 0 ? 0 : hunks.length - 1) : (hunkAt + step + hunks.length) % hunks.length;
  const [piece, index] = hunks[hunkAt];
  scrollToRow(rowElement(piece.body, index));
  say(`Change ${hunkAt + 1} of ${hunks.length}`);
}

function jumpToPiece(piece) {
  if (!piece.section || !piece.section.isConnected) return;
  if (!piece.open && piece.after >= 0) { openPiece(piece, true); hunksChanged(); }
  piece.section.scrollIntoView({block: 'start'});
}

function show(index) {
  if (index !== VIEW.stage) $('content').parentElement.scrollTop = 0;
  VIEW.stage = index;
  drawSide();
  drawStage();
  const item = document.querySelector('#pass-list [aria-current=true]');
  if (item) item.scrollIntoView({block: 'nearest'});
  if (SEARCH.term) searchAgain(false);
  remember();
}

// The next stage in a direction for which the test holds.
function step(direction, test) {
  for (let i = VIEW.stage + direction; i >= 0 && i < STAGES.length; i += direction) {
    if (test(STAGES[i])) return show(i);
  }
  say(direction > 0 ? 'There is no such pass after this one.' : 'There is no such pass before this one.');
}

function setLayout(layout) {
  VIEW.layout = layout;
  drawStage();
  if (SEARCH.term) searchAgain(false);
  remember();
}

// All unchanged lines, or only those near to a change.
function toggleContext() {
  const open = shownPieces.some((p) => p.open && p.rows.some((r) => r.kind === 'gap'));
  for (const piece of shownPieces) {
    if (!piece.changed) continue;
    if (open) for (const hidden of (piece.hidden || new Map()).values()) hidden[0] = hidden[1] = 0;
    else piece.hidden = undefined;
    if (piece.open) drawRows(piece, piece.body, layoutNow());
  }
  hunksChanged();
  say(open ? 'All lines are shown.' : 'Unchanged lines are folded.');
}

async function copyText() {
  const stage = stageNow();
  const text = stageText(stage);
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without the permission: through a selection.
    const area = el('textarea', {class: 'copy-area'});
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  say(`Copied ${plural(stage.text.lines, 'line')} of IR after ${stage.name}`);
}

let saidTimer = 0;
function say(text) {
  $('said').textContent = text;
  $('said').classList.add('on');
  clearTimeout(saidTimer);
  saidTimer = setTimeout(() => $('said').classList.remove('on'), 1800);
}
