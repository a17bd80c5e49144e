// The keyboard.

const KEYS = [
  ['Passes', [
    ['j', 'next pass that changed something', () => step(1, (s) => s.state === 'changed' || s.state === 'failed')],
    ['k', 'previous one', () => step(-1, (s) => s.state === 'changed' || s.state === 'failed' || s.index === 0)],
    ['J', 'next pass', () => step(1, () => true)],
    ['K', 'previous pass', () => step(-1, () => true)],
    ['g', 'the program as it was read', () => show(0)],
    ['G', 'the last pass', () => show(STAGES.length - 1)],
  ]],
  ['Changes', [
    ['n', 'next change', () => goHunk(1)],
    ['p', 'previous change', () => goHunk(-1)],
    ['s', 'side by side or stacked', () => setLayout(VIEW.layout === 'split' ? 'stack' : 'split')],
    ['f', 'the whole text after the pass, or the changes', () => setLayout(VIEW.layout === 'full' ? 'split' : 'full')],
    ['e', 'show or fold all unchanged lines', toggleContext],
    ['w', 'wrap long lines', () => { VIEW.wrap = !VIEW.wrap; drawStage(); }],
    ['c', 'copy the IR after the pass', copyText],
  ]],
  ['Everywhere', [
    ['/', 'search', () => { setTab('passes'); $('search').focus(); $('search').select(); }],
    ['o', 'filter functions', () => { setTab('passes'); $('glob').focus(); $('glob').select(); }],
    ['1', 'tab of the passes', () => setTab('passes')],
    ['2', 'tab of the program', () => setTab('program')],
    ['t', 'light or dark', toggleTheme],
    ['?', 'these keys', () => toggleHelp()],
  ]],
];

function drawHelp() {
  $('help').replaceChildren(el('h2', {}, 'Keys'),
    el('div', {class: 'key-groups'}, KEYS.map(([title, keys]) => el('div', {}, el('h3', {}, title),
      el('dl', {}, keys.map(([key, text]) => [el('dt', {}, el('kbd', {}, key)), el('dd', {}, text)]))))),
    el('p', {}, 'In the search field Enter and Shift+Enter go to the next and previous match; Escape leaves it. Capital letters in it count. ',
      'The address of this page leads back to what it shows.'),
    el('form', {method: 'dialog'}, el('button', {}, 'Close')));
}

function toggleHelp() {
  if ($('help').open) $('help').close();
  else $('help').showModal();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
  if (typing) {
    if (event.key === 'Escape') event.target.blur();
    if (event.key === 'Enter' && event.target.id === 'search') goHit(event.shiftKey ? -1 : 1);
    return;
  }
  if ($('help').open && event.key !== '?') return;
  for (const [, keys] of KEYS) {
    for (const [key, , action] of keys) {
      if (key !== event.key) continue;
      event.preventDefault();
      if (VIEW.tab === 'program' && 'jkJKgGnpsfewc'.includes(key)) return;
      action();
      return;
    }
  }
}
