// Domains with their devices, and the windows in them: where each lies in the memory of every device of the domain.

const ALIGN = 32;    // windows begin at multiples of this many bytes
const COLOURS = 8;

const windowClass = (domain, slot) => `w${(domain * 3 + slot) % COLOURS}`;

// The value of a size such as "(world_size + 1) * 4", or null if it needs more than the number of ranks.
function sizeFor(size, ranks) {
  if (typeof size === 'number') return size;
  if (!ranks) return null;
  const tokens = size.match(/\d+|world_size|[-+*/()]|\S/g) || [];
  let at = 0;
  const atom = () => {
    const token = tokens[at++];
    if (token === 'world_size') return ranks;
    if (/^\d+$/.test(token || '')) return Number(token);
    if (token !== '(') return NaN;
    const value = sum();
    return tokens[at++] === ')' ? value : NaN;
  };
  const product = () => {
    let value = atom();
    while (tokens[at] === '*' || tokens[at] === '/') value = tokens[at++] === '*' ? value * atom() : Math.floor(value / atom());
    return value;
  };
  function sum() {
    let value = product();
    while (tokens[at] === '+' || tokens[at] === '-') value = tokens[at++] === '+' ? value + product() : value - product();
    return value;
  }
  const value = sum();
  return at === tokens.length && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

// Slots with what the number of ranks adds to what is known: bytes, offset, both null if they stay unknown.
function laidOut(domain, ranks) {
  let offset = 0;
  return domain.slots.map((slot) => {
    const bytes = sizeFor(slot.bytes, ranks);
    const out = {...slot, bytes, offset, text: typeof slot.bytes === 'string' ? slot.bytes : ''};
    offset = offset === null || bytes === null ? null : offset + Math.ceil(bytes / ALIGN) * ALIGN;
    return out;
  });
}

const number = (n) => (n === null ? '?' : n.toLocaleString('en'));

function devicesNode(domain, ranks) {
  let devices = domain.devices;
  if (devices === 'all') devices = ranks ? [...Array(ranks).keys()] : null;
  const boxes = devices ? devices.slice(0, 16).map((d) => el('span', {class: 'device'}, String(d)))
    : [el('span', {class: 'device'}, '0'), el('span', {class: 'device'}, '1'), el('span', {class: 'device more'}, '… n − 1')];
  if (devices && devices.length > 16) boxes.push(el('span', {class: 'device more'}, `… ${devices[devices.length - 1]}`));
  return el('div', {class: 'devices'}, el('span', {class: 'label'}, domain.devices === 'all' ? 'on all devices' : 'on devices'), boxes);
}

function stripNode(slots, index) {
  const total = slots.reduce((sum, s) => sum + (s.bytes || 0), 0);
  return el('div', {class: 'strip', role: 'img', 'aria-label': 'Memory of each device'}, slots.map((slot, i) => {
    const piece = el('div', {class: `slot ${windowClass(index, i)}`, title: `${slot.name}: ${slot.bytes === null ? slot.text : number(slot.bytes)} bytes`},
      el('span', {}, slot.name));
    // In proportion, but wide enough to be seen.
    piece.style.flexGrow = String(Math.max(slot.bytes || 0, total * 0.08, 1));
    return piece;
  }));
}

function domainNode(domain, index, ranks) {
  const slots = laidOut(domain, ranks);
  const last = slots[slots.length - 1];
  const total = !last || last.offset === null || last.bytes === null ? null : last.offset + Math.ceil(last.bytes / ALIGN) * ALIGN;
  const formulas = slots.some((slot) => slot.bytes !== null && slot.text);
  const rows = slots.map((slot, i) => el('tr', {},
    el('td', {}, el('span', {class: `swatch ${windowClass(index, i)}`})), el('td', {class: 'window-name'}, slot.name),
    el('td', {}, el('span', {class: `use ${slot.use}`}, slot.use)), el('td', {class: 'num'}, number(slot.offset)),
    el('td', {class: 'num'}, slot.bytes === null ? el('code', {}, slot.text) : number(slot.bytes)),
    formulas ? el('td', {class: 'formula'}, slot.bytes !== null && slot.text ? el('code', {}, slot.text) : '') : null));
  return el('section', {class: 'card domain'},
    el('h3', {}, domain.name, el('span', {class: 'aside'}, total === null ? 'size depends on the ranks' : `${number(total)} bytes on each device`)),
    devicesNode(domain, ranks), stripNode(slots, index),
    el('table', {class: 'list slots'}, el('thead', {}, el('tr', {}, ['', 'Window', 'Use', 'Offset', 'Bytes', ...(formulas ? ['Written as'] : [])].map((h) => el('th', {class: h === 'Offset' || h === 'Bytes' ? 'num' : ''}, h)))),
      el('tbody', {}, rows)));
}
