// The data of the report (see driver/trace/report_data.h) and what follows from it.

const DATA = JSON.parse(document.getElementById('data').textContent);

// Each stage with what it shares with the one before it filled in.
const STAGES = (() => {
  const out = [];
  let text = {head: 0, functions: [], lines: 0};
  DATA.stages.forEach((stage, index) => {
    if (stage.head !== undefined) {
      text = {head: stage.head, functions: [], lines: stage.lines};
      for (let i = 0; i < stage.functions.length; i += 2)
        text.functions.push({name: stage.functions[i], text: stage.functions[i + 1]});
    }
    const number = stage.number ? String(stage.number).padStart(2, '0') : stage.name ? '··' : '00';
    const name = stage.name || (index === 0 ? 'as it was read' : 'verification at the end');
    out.push({
      index, number, name,
      label: stage.name ? `${number}_${stage.name}` : index === 0 ? 'frontend' : 'end',
      state: stage.state, about: stage.about || '', diags: stage.diags || [],
      added: stage.added || 0, removed: stage.removed || 0, diffs: stage.diffs || [], text,
    });
  });
  // A pass that runs twice: the label alone tells the two apart.
  const seen = new Map();
  for (const stage of out) {
    const times = seen.get(stage.label) || 0;
    seen.set(stage.label, times + 1);
    if (times) stage.label += `~${times + 1}`;
  }
  return out;
})();

const functionName = (name) => (name < 0 ? '(imports)' : DATA.names[name]);

// The whole text after a stage, as --dump-after prints it.
function stageText(stage) {
  return DATA.texts[stage.text.head] + stage.text.functions.map((f) => DATA.texts[f.text]).join('\n') + '\n';
}

const lineCache = new Map();
function linesOf(text) {
  if (text < 0) return [];
  let lines = lineCache.get(text);
  if (!lines) {
    const all = DATA.texts[text];
    lines = all === '' ? [] : (all.endsWith('\n') ? all.slice(0, -1) : all).split('\n');
    lineCache.set(text, lines);
  }
  return lines;
}

// What kind of function the text declares, from its decorator.
function functionKind(text) {
  const first = (linesOf(text)[0] || '');
  const type = /type=\w+\.FunctionType\.(\w+)/.exec(first);
  if (/level=\w+\.Level\.HOST/.test(first)) return /Role\.SubWorker/.test(first) ? 'Host worker' : 'Host';
  return type ? type[1] : 'Opaque';
}

// The pieces of a stage: the head and each function, before and after. `runs`: same, removed, added, and so on.
function piecesOf(stage) {
  const changed = new Map(stage.diffs.map((d) => [d[0], d]));
  const out = [];
  const add = (name, text) => {
    const diff = changed.get(name);
    changed.delete(name);
    if (diff) {
      out.push({name, before: diff[1], after: diff[2], runs: diff[3], changed: true});
    } else {
      out.push({name, before: text, after: text, runs: [linesOf(text).length, 0, 0], changed: false});
    }
  };
  if (DATA.texts[stage.text.head] !== '' || changed.has(-1)) add(-1, stage.text.head);
  for (const f of stage.text.functions) add(f.name, f.text);
  for (const d of changed.values()) out.push({name: d[0], before: d[1], after: d[2], runs: d[3], changed: true});
  for (const piece of out) {
    piece.kind = piece.name < 0 ? '' : functionKind(piece.after < 0 ? piece.before : piece.after);
    piece.added = 0;
    piece.removed = 0;
    if (!piece.changed) continue;
    for (let i = 0; i < piece.runs.length; i += 3) {
      piece.removed += piece.runs[i + 1];
      piece.added += piece.runs[i + 2];
    }
  }
  return out;
}

// "a*b?" as a test of a whole name; anything without * and ? is a part of the name.
function globTest(glob) {
  if (!glob) return () => true;
  if (!/[*?]/.test(glob)) return (name) => name.toLowerCase().includes(glob.toLowerCase());
  const pattern = glob.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*+/g, '.*').replace(/\?/g, '.');
  const whole = new RegExp(`^${pattern}$`);
  return (name) => whole.test(name);
}

// Element with classes, attributes and children; strings become text, never markup.
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === 'class') node.className = value;
    else if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

function svg(tag, attributes, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== null) node.setAttribute(key, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

const plural = (n, word) => `${n.toLocaleString('en')} ${word}${n === 1 ? '' : 's'}`;
