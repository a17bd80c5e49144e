// The second tab: what the program is made of, as it stands after the last pass of the run.

let mapDrawn = false;

function drawMap() {
  if (mapDrawn) return;
  mapDrawn = true;
  const map = DATA.map;
  const place = $('map');
  if (!map || !map.entries.length) {
    place.replaceChildren(el('p', {class: 'empty'}, 'The program has no function to start from, so there is nothing to draw.'));
    return;
  }
  place.replaceChildren(...map.entries.map((entry) => entryNode(map, entry)));
}

function entryNode(map, entry) {
  const manifest = map.manifest ? map.manifest.entries.find((e) => e.name === entry.name) : null;
  const ranks = map.messages ? map.messages.ranks : 0;
  const host = map.messages ? map.messages.hosts.find((h) => h.host === entry.name) : null;
  return el('article', {class: 'entry'},
    el('h2', {}, entry.name, lineNode(entry.line), el('span', {class: 'aside'}, ranks ? `drawn for ${plural(ranks, 'rank')}` : 'any number of ranks')),
    manifest ? paramsNode(manifest) : null,
    el('h3', {class: 'section'}, 'Domains and windows'), domainsNodes(map, manifest, ranks),
    el('h3', {class: 'section'}, 'What runs where'), flowNode(map, entry),
    el('h3', {class: 'section'}, 'Who notifies whom'), whoNodes(map, entry, host, ranks));
}

const lineNode = (line) => (line ? el('span', {class: 'line', title: `${DATA.file}, line ${line}`}, `:${line}`) : null);

function paramsNode(manifest) {
  if (!manifest.parameters.length) return null;
  return el('p', {class: 'params'}, manifest.parameters.map((p) => el('span', {class: 'param'}, el('b', {}, p.name), ` ${p.direction} `,
    el('code', {}, p.dtype + (p.shape ? `[${p.shape.map((d, i) => d + (p.rank_axes.includes(i) ? ' by rank' : '')).join(', ')}]` : '')))));
}

function domainsNodes(map, manifest, ranks) {
  if (map.refused) {
    return [el('p', {class: 'note'}, 'There are no sizes and offsets to show: code generation refuses the program as it stands.'), ...map.refused.map(diagnosticNode)];
  }
  if (!manifest || !manifest.domains.length) return [el('p', {class: 'empty'}, 'The program has no communication domain: its devices share no windows.')];
  return manifest.domains.map((d, i) => domainNode(d, i, ranks));
}

// ---- what runs where

function flowNode(map, entry) {
  const body = flowBody(map, entry, entry.body);
  return body.length ? el('div', {class: 'flow'}, body) : el('p', {class: 'empty'}, 'The function starts nothing.');
}

function flowBody(map, entry, body) {
  return body.map((node) => {
    if (node.kind === 'dispatch' || node.kind === 'collective') return startNode(map, node);
    const inner = flowBody(map, entry, node.body);
    if (node.kind === 'domain') return el('div', {class: 'flow-domain'}, inner);
    return el('div', {class: `flow-block ${node.kind}`}, el('div', {class: 'flow-head'}, node.text, lineNode(node.line)), inner);
  });
}

const ARROWS = {in: '→', out: '←', inout: '↔'};

function startNode(map, node) {
  const args = node.args.map((arg) => el('span', {class: 'arg'},
    arg.window ? el('span', {class: `swatch ${windowClass(...arg.window)}`}) : null,
    arg.param ? el('span', {class: 'arg-name'}, arg.param) : null,
    arg.text !== undefined && arg.text !== arg.param ? [el('span', {class: 'arg-way'}, ARROWS[arg.direction] || '·'), el('code', {}, arg.text)] : null));
  const chain = node.kind === 'dispatch' ? kernelsOf(map, node.callee) : [];
  return el('div', {class: `start ${node.kind}`},
    el('div', {class: 'start-head'},
      node.device !== undefined ? el('span', {class: 'device'}, `device ${node.device}`) : el('span', {class: 'device more'}, node.kind === 'collective' ? 'all devices' : 'host'),
      el('b', {}, node.callee), kindNode(map, node.callee), lineNode(node.line),
      chain.length ? el('span', {class: 'chain'}, 'runs ', chain.map((name, i) => [i ? ', ' : '', el('b', {}, name), ' ', kindNode(map, name)])) : null),
    args.length ? el('div', {class: 'args'}, args) : null);
}

function kindNode(map, name) {
  const f = map.functions[name];
  return f ? el('span', {class: `kind kind-${f.kind.replace(/\W.*/, '').toLowerCase()}`}, f.kind) : null;
}

// What the function starts itself, and what that starts.
function kernelsOf(map, name) {
  const out = [];
  const seen = new Set([name]);
  const visit = (n) => {
    for (const call of (map.functions[n] || {calls: []}).calls) {
      if (seen.has(call.callee)) continue;
      seen.add(call.callee);
      out.push(call.callee);
      visit(call.callee);
    }
  };
  visit(name);
  return out;
}

// ---- who notifies whom

// Which windows the parameters of every function stand for: function, parameter: set of [domain, slot].
function boundWindows(map, entry) {
  const bound = new Map();
  const add = (name, param, windows) => {
    const key = `${name} ${param}`;
    const old = bound.get(key) || new Map();
    let grew = false;
    for (const w of windows) {
      if (!old.has(String(w))) { old.set(String(w), w); grew = true; }
    }
    bound.set(key, old);
    return grew;
  };
  const spread = (name, deep) => {
    if (deep > 40) return;
    for (const call of (map.functions[name] || {calls: []}).calls) {
      let grew = false;
      for (const [param, from] of Object.entries(call.passed)) {
        const windows = bound.get(`${name} ${from}`);
        if (windows && windows.size) grew = add(call.callee, param, windows.values()) || grew;
      }
      if (grew) spread(call.callee, deep + 1);
    }
  };
  const visit = (body) => body.forEach((node) => {
    if (node.body) return visit(node.body);
    if (node.kind !== 'dispatch') return undefined;
    for (const arg of node.args) if (arg.window && arg.param) add(node.callee, arg.param, [arg.window]);
    return spread(node.callee, 0);
  });
  visit(entry.body);
  return bound;
}

// Every function that the entry leads to, in the order of its first call.
function reachedFrom(map, entry) {
  const out = [];
  const add = (name) => [name, ...kernelsOf(map, name)].forEach((n) => { if (!out.includes(n)) out.push(n); });
  const visit = (body) => body.forEach((node) => {
    if (node.body) visit(node.body);
    else if (node.kind === 'dispatch') add(node.callee);
  });
  visit(entry.body);
  return out;
}

function collectivesIn(body, around, out) {
  for (const node of body) {
    if (node.body) collectivesIn(node.body, node.text ? [...around, node.text] : around, out);
    else if (node.kind === 'collective') out.push({node, around});
  }
  return out;
}

function windowNames(map, entry, windows) {
  const manifest = map.manifest ? map.manifest.entries.find((e) => e.name === entry.name) : null;
  return windows.map(([domain, slot]) => {
    const d = manifest && manifest.domains[domain];
    return el('span', {class: 'arg'}, el('span', {class: `swatch ${windowClass(domain, slot)}`}), d && d.slots[slot] ? d.slots[slot].name : '');
  });
}

function tellRow(map, entry, bound, name, tell) {
  const windows = tell.window ? [...(bound.get(`${name} ${tell.window}`) || new Map()).values()] : [];
  const what = tell.op === 'notify' ? `${tell.how === 'Set' ? '=' : '+'} ${tell.value ?? '?'}`
    : tell.expected !== undefined ? `until ${tell.how === 'Eq' ? '=' : '≥'} ${tell.expected}` : '';
  return el('tr', {}, el('td', {}, el('b', {}, name), lineNode(tell.line)), el('td', {}, el('span', {class: `tell ${tell.op.replace(/\W.*/, '')}`}, tell.op)),
    el('td', {}, el('code', {}, (tell.window || '') + (tell.cell || '')), windowNames(map, entry, windows)),
    el('td', {}, tell.peer !== undefined ? el('code', {}, `rank ${tell.peer}`) : tell.op === 'wait' || tell.op === 'defer_wait' ? 'itself' : 'all ranks'),
    el('td', {}, el('code', {}, what)), el('td', {class: 'around'}, tell.around.map((a) => el('div', {}, a))));
}

function tellsNode(map, entry) {
  const bound = boundWindows(map, entry);
  const rows = [];
  for (const {node, around} of collectivesIn(entry.body, [], [])) {
    const windows = node.args.filter((a) => a.window).map((a) => a.window);
    rows.push(el('tr', {}, el('td', {}, el('b', {}, entry.name), lineNode(node.line)), el('td', {}, el('span', {class: 'tell collective'}, node.callee)),
      el('td', {}, windowNames(map, entry, windows)), el('td', {}, 'all ranks'), el('td', {}, ''), el('td', {class: 'around'}, around.map((a) => el('div', {}, a)))));
  }
  for (const name of reachedFrom(map, entry)) {
    for (const tell of (map.functions[name] || {tells: []}).tells) rows.push(tellRow(map, entry, bound, name, tell));
  }
  if (!rows.length) return null;
  return el('div', {class: 'wide'}, el('table', {class: 'list tells'},
    el('thead', {}, el('tr', {}, ['Where', 'What', 'Window and cell', 'Of', 'Value', 'Inside of'].map((h) => el('th', {}, h)))), el('tbody', {}, rows)));
}

function whoNodes(map, entry, host, ranks) {
  const out = [];
  if (map.messages && map.messages.diags) out.push(...map.messages.diags.map(diagnosticNode));
  if (host) out.push(el('h4', {}, `Followed for ${plural(ranks, 'rank')}`), ...messagesNode(host, ranks));
  const tells = tellsNode(map, entry);
  if (!host && tells) {
    out.push(el('p', {class: 'note'}, 'The program runs on any number of ranks. ', el('code', {}, 'pldc trace --ranks N'),
      ' draws the notifies and waits of each; this is what the text says:'));
  }
  if (host && tells) out.push(el('h4', {}, 'In the text'));
  if (tells) out.push(tells);
  else if (!host) out.push(el('p', {class: 'empty'}, 'No function notifies another rank or waits for one.'));
  return out;
}
