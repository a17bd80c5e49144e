// Who notifies whom: the events of every rank in an order that they may happen in, as lanes with arrows, and a table of counts.

const LANE = 168;     // at least; few ranks have more
const WIDEST = 280;
const PAGE = 1140;
const ROW = 46;
const TOP = 44;
const LEFT = 28;
const LETTER = 6.65;  // width of one in a label

// Lets the ranks run against each other. Gives every event a row below everything that it waits for.
// Returns {marks: [{lane, row, event, blocked}], arrows: [{from, to}], bars: [{row, lanes, event}], rows}.
function schedule(host) {
  const marks = [];
  const arrows = [];
  const bars = [];
  const cells = new Map();
  const meetings = new Map();
  const processes = [];
  const start = (events, lane, shift, clock, parent) => {
    const process = {events, lane, shift, clock, at: 0, parent, children: 0};
    processes.push(process);
    if (parent) ++parent.children;
  };
  host.events.forEach((events, lane) => start(events, lane, 0, 0, null));
  const keyOf = (event, device) => `${event.window} ${device} ${event.byte}`;
  const place = (process, event, row, more) => {
    const mark = {lane: process.lane, shift: process.shift, row, event, ...more};
    marks.push(mark);
    process.clock = row;
    return mark;
  };
  const steps = {
    notify(process, event) {
      const mark = place(process, event, process.clock + 1);
      const key = keyOf(event, event.to);
      const cell = cells.get(key) || {value: 0, from: []};
      if (event.set) { cell.value = event.value; cell.from = []; } else cell.value += event.value;
      mark.pending = true;
      if (event.value !== 0) cell.from.push(mark);
      cells.set(key, cell);
      return true;
    },
    wait(process, event) {
      const cell = cells.get(keyOf(event, process.lane)) || {value: 0, from: []};
      const uncertain = host.windows[event.window].uncertain;
      if (!uncertain && !(event.equal ? cell.value === event.value : cell.value >= event.value)) return false;
      const row = Math.max(process.clock, ...cell.from.map((m) => m.row)) + 1;
      const mark = place(process, event, row);
      for (const from of cell.from) { arrows.push({from, to: mark}); from.pending = false; }
      cell.from = [];
      return true;
    },
    collective(process, event) {
      const key = `${event.window} ${event.byte}`;
      const meeting = meetings.get(key) || new Map();
      meetings.set(key, meeting);
      meeting.set(process.lane, process);
      const lanes = host.domains[host.windows[event.window].domain].devices;
      if (meeting.size < lanes.length) return false;
      const row = Math.max(...[...meeting.values()].map((p) => p.clock)) + 1;
      bars.push({row, lanes, event});
      for (const other of meeting.values()) {
        other.clock = row;
        if (other !== process) ++other.at;
      }
      meetings.delete(key);
      return true;
    },
    fork(process, event) {
      const count = event.branches.length;
      process.forked = true;
      event.branches.forEach((events, i) => start(events, process.lane, count > 1 ? (i / (count - 1) - 0.5) * 44 : 0, process.clock, process));
      return false;
    },
  };
  const done = (p) => p.at >= p.events.length;
  for (let moved = true; moved;) {
    moved = false;
    for (const p of [...processes].sort((a, b) => a.clock - b.clock)) {
      if (done(p) || p.children) continue;
      if (p.forked) {
        p.forked = false;
        ++p.at;
        moved = true;
      } else if (steps[p.events[p.at].kind](p, p.events[p.at])) {
        ++p.at;
        moved = true;
      } else if (p.forked) {
        moved = true;
      }
      if (done(p) && p.parent && !p.left) {
        p.left = true;
        --p.parent.children;
        p.parent.clock = Math.max(p.parent.clock, p.clock);
      }
      if (moved) break;
    }
  }
  for (const p of processes) {
    if (!done(p) && !p.children && p.events[p.at].kind !== 'fork') place(p, p.events[p.at], p.clock + 1, {blocked: true});
  }
  return {marks, arrows, bars, rows: Math.max(0, ...marks.map((m) => m.row), ...bars.map((b) => b.row))};
}

function eventText(host, mark) {
  const e = mark.event;
  const window = host.windows[e.window].name;
  if (e.kind === 'notify') return `line ${e.line}: notifies ${window}${e.cell} of rank ${e.to}: ${e.set ? '=' : '+'} ${e.value}`;
  if (e.kind === 'wait') return `line ${e.line}: waits until ${window}${e.cell} ${e.equal ? '=' : '≥'} ${e.value}`;
  return `line ${e.line}: ${e.name} over ${window}`;
}

// All ranks, or of very many those that have something to show.
const MANY_RANKS = 64;
function drawnRanks(ranks, busy) {
  const all = [...Array(ranks).keys()];
  return ranks > MANY_RANKS ? all.filter(busy) : all;
}

// A text that arrows do not run through.
function labelNode(text, x, y, kind) {
  return svg('g', {}, svg('rect', {class: 'label-back', x: x - 2, y: y - 10, width: text.length * LETTER + 4, height: 13, rx: 3}),
    svg('text', {class: kind, x, y}, text));
}

// The windows of the match are counted through all domains.
function matchClass(host, window) {
  const domain = host.windows[window].domain;
  const first = host.windows.findIndex((w) => w.domain === domain);
  return windowClass(domain, window - first);
}

// How arrows go past labels: from the notify into the channel between two rows, along it to the gutter before the rank that
// waits, there down to the row of the wait, which has its label below. Arrows from different ranks have tracks of their own.
function arrowPath({x1, y1, x2, y2, lane, track}) {
  const right = x2 > x1;
  const side = right ? -1 : 1;
  const channel = y1 + 17 + track * 3;
  const gutter = (right ? x2 - 14 : x2 + lane - (lane < 220 ? 14 : 44)) - 5 * track;
  const round = Math.min(6, Math.max(0, (y2 - channel) / 2));
  const turn = gutter > x1 ? 1 : -1;  // along the channel
  return `M${x1 - side * 3},${y1 + 3} L${x1 - side * 9},${channel} H${gutter - turn * round} Q${gutter},${channel} ${gutter},${channel + round} ` +
    `V${y2 - round} Q${gutter},${y2} ${gutter - side * round},${y2} H${x2 + side * 6}`;
}

// What a notify or a wait has to do with is told from the rest while it is pointed at.
function linkHover(signs, paths) {
  const all = [...signs.values(), ...paths.map((p) => p.path)];
  for (const [mark, node] of signs) {
    const mine = paths.filter((p) => p.from === mark || p.to === mark);
    if (!mine.length) continue;
    const related = new Set([node, ...mine.flatMap((p) => [p.path, signs.get(p.from), signs.get(p.to)])]);
    node.addEventListener('pointerenter', () => all.forEach((n) => n.classList.toggle('dim', !related.has(n))));
    node.addEventListener('pointerleave', () => all.forEach((n) => n.classList.remove('dim')));
  }
}

function sequenceNode(host) {
  const plan = schedule(host);
  const ranks = drawnRanks(host.events.length, (rank) => host.events[rank].length);
  const column = new Map(ranks.map((rank, i) => [rank, i]));
  const wide = Math.round(Math.min(WIDEST, Math.max(LANE, PAGE / ranks.length)));
  const width = LEFT * 2 + ranks.length * wide;
  const height = TOP + (plan.rows + 1) * ROW;
  const x = (m) => LEFT + wide * (column.get(m.lane) + 0.3) + (m.shift || 0);
  const y = (row) => TOP + row * ROW;
  const lines = [];
  const labels = [];
  const dots = [];
  const paths = [];
  const signs = new Map();
  for (const lane of ranks) {
    const at = x({lane});
    lines.push(svg('line', {class: 'lane', x1: at, x2: at, y1: TOP, y2: height - 6}));
    labels.push(svg('text', {class: 'lane-name', x: at, y: 24, 'text-anchor': 'middle'}, `rank ${lane}`));
  }
  for (const bar of plan.bars) {
    const from = x({lane: Math.min(...bar.lanes)}) - 14;
    const to = x({lane: Math.max(...bar.lanes)}) + 14;
    lines.push(svg('rect', {class: `meet ${matchClass(host, bar.event.window)}`, x: from, y: y(bar.row) - 11, width: to - from, height: 22, rx: 11},
      svg('title', {}, eventText(host, bar))));
    labels.push(svg('text', {class: 'meet-name', x: (from + to) / 2, y: y(bar.row) + 4, 'text-anchor': 'middle'},
      `${bar.event.name} · ${host.windows[bar.event.window].name}`));
  }
  for (const {from, to} of plan.arrows) {
    const self = from.lane === to.lane;
    const [x1, y1, x2, y2] = [x(from), y(from.row), x(to), y(to.row)];
    const track = column.get(from.lane) % 5;
    const d = self ? `M${x1},${y1} C${x1 - 34},${y1 + 4} ${x2 - 34},${y2 - 4} ${x2 - 5},${y2}` : arrowPath({x1, y1, x2, y2, lane: wide, track});
    const path = svg('path', {class: `arrow ${matchClass(host, from.event.window)}`, d, 'marker-end': 'url(#tip)'});
    lines.push(path);
    paths.push({from, to, path});
  }
  for (const mark of plan.marks) {
    const e = mark.event;
    const wait = e.kind !== 'notify';
    const at = x(mark);
    const shape = wait ? svg('rect', {x: at - 5, y: y(mark.row) - 5, width: 10, height: 10}) : svg('circle', {cx: at, cy: y(mark.row), r: 5});
    shape.setAttribute('class', `event ${e.kind} ${mark.blocked ? 'blocked' : ''} ${matchClass(host, e.window)}`);
    shape.append(svg('title', {}, eventText(host, mark)));
    dots.push(shape);
    signs.set(mark, shape);
    const text = mark.blocked ? `waits for ever ${e.cell || ''}` : wait ? `${e.cell} ${e.equal ? '=' : '≥'} ${e.value}` : `→ ${e.to} ${e.cell}${mark.pending ? ' unread' : ''}`;
    labels.push(labelNode(text, at + 9, y(mark.row) + (wait ? 12 : -6), mark.blocked ? 'event-name blocked' : 'event-name'));
  }
  linkHover(signs, paths);
  const tip = svg('marker', {id: 'tip', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto-start-reverse'},
    svg('path', {d: 'M0,0 L8,4 L0,8 z', class: 'tip'}));
  return el('div', {class: 'sequence'}, svg('svg', {width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Who notifies whom'},
    svg('defs', {}, tip), lines, dots, labels));
}

function matrixNode(host, ranks) {
  const counts = new Map();
  let most = 0;
  for (const [from, to, , count] of host.notifies) {
    const key = `${from} ${to}`;
    counts.set(key, (counts.get(key) || 0) + count);
    most = Math.max(most, counts.get(key));
  }
  const all = drawnRanks(ranks, (rank) => host.notifies.some(([from, to]) => from === rank || to === rank));
  const table = el('table', {class: 'matrix'},
    el('thead', {}, el('tr', {}, el('th', {}, 'from \\ to'), all.map((to) => el('th', {}, String(to))))),
    el('tbody', {}, all.map((from) => el('tr', {}, el('th', {}, String(from)), all.map((to) => {
      const count = counts.get(`${from} ${to}`) || 0;
      const cell = el('td', {class: count ? 'some' : '', title: `rank ${from} notifies rank ${to} ${plural(count, 'time')}`}, count ? String(count) : '·');
      if (count) cell.style.setProperty('--heat', `${15 + Math.round(50 * count / most)}%`);
      return cell;
    })))));
  return el('div', {class: 'matrix-box'}, table);
}

function legendNode() {
  const sign = (kind, text) => el('span', {class: 'legend-item'}, el('span', {class: kind}), text);
  return el('div', {class: 'legend'}, sign('legend-dot', 'notifies: rank and cell'), sign('legend-box', 'waits: cell and value'),
    sign('legend-bar', 'all ranks meet'), el('span', {}, 'Time runs downwards. Colours are those of the windows; point at a sign for its line and its arrows.'));
}

function messagesNode(host, ranks) {
  const parts = [];
  if (!host.whole) parts.push(el('p', {class: 'note'}, 'The function could not be followed to its end: what is shown is the part before.'));
  if (host.total === 0) {
    parts.push(el('p', {class: 'empty'}, 'The ranks tell each other nothing.'));
    return parts;
  }
  if (ranks > MANY_RANKS) parts.push(el('p', {class: 'note'}, 'Ranks that tell nobody anything are not drawn.'));
  if (host.events) parts.push(sequenceNode(host), legendNode());
  else parts.push(el('p', {class: 'note'}, `${plural(host.total, 'event')}: too many to draw. The counts:`));
  if (host.notifies.length) parts.push(el('h4', {}, 'Notifies from rank to rank'), matrixNode(host, ranks));
  return parts;
}
