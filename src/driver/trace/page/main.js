// Tabs, theme, addresses, and the start.

function setTab(tab) {
  VIEW.tab = tab;
  $('passes').hidden = tab !== 'passes';
  $('map').hidden = tab !== 'program';
  $('tab-passes').setAttribute('aria-selected', String(tab === 'passes'));
  $('tab-program').setAttribute('aria-selected', String(tab === 'program'));
  if (tab === 'program') drawMap();
  remember();
}

// The choice outlives the page where the browser allows that.
function savedTheme() {
  try { return localStorage.getItem('pldc-trace-theme'); } catch { return null; }
}

function setTheme(theme) {
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
}

function toggleTheme() {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  setTheme(dark ? 'light' : 'dark');
  try { localStorage.setItem('pldc-trace-theme', dark ? 'light' : 'dark'); } catch { /* not here */ }
}

// ---- addresses: #pass=42_MaterializeCommDomainScopes&func=host&view=stack

let remembering = false;

function remember() {
  if (!remembering) return;
  const address = new URLSearchParams();
  if (VIEW.tab === 'program') address.set('tab', 'program');
  address.set('pass', stageNow().label);
  if (VIEW.glob) address.set('func', VIEW.glob);
  if (VIEW.layout !== 'split') address.set('view', VIEW.layout);
  if (VIEW.filter !== 'ran') address.set('show', VIEW.filter);
  try { history.replaceState(null, '', '#' + address); } catch { /* a page without an address */ }
}

function recall() {
  remembering = false;
  const address = new URLSearchParams(location.hash.slice(1));
  const pass = address.get('pass');
  const found = STAGES.find((s) => s.label === pass) || STAGES.find((s) => s.name === pass);
  const first = STAGES.find((s) => s.state === 'failed') || STAGES.find((s) => s.state === 'changed') || STAGES[0];
  VIEW.stage = (found || first).index;
  VIEW.glob = address.get('func') || '';
  VIEW.layout = ['split', 'stack', 'full'].includes(address.get('view')) ? address.get('view') : innerWidth < 1000 ? 'stack' : 'split';
  VIEW.filter = filterOf(address.get('show'))[0];
  $('glob').value = VIEW.glob;
  show(VIEW.stage);
  setTab(address.get('tab') === 'program' ? 'program' : 'passes');
  remembering = true;
}

function start() {
  document.title = `${DATA.program || DATA.file} · pldc trace`;
  $('program').textContent = DATA.program || DATA.file;
  $('file').textContent = `${DATA.file} · pldc ${DATA.version}`;
  setTheme(savedTheme());
  drawHelp();
  const click = (id, action) => $(id).addEventListener('click', action);
  click('tab-passes', () => setTab('passes'));
  click('tab-program', () => setTab('program'));
  click('theme', toggleTheme);
  click('help-button', toggleHelp);
  click('view-split', () => setLayout('split'));
  click('view-stack', () => setLayout('stack'));
  click('view-full', () => setLayout('full'));
  click('hunk-next', () => goHunk(1));
  click('hunk-previous', () => goHunk(-1));
  click('wrap', () => { VIEW.wrap = !VIEW.wrap; drawStage(); });
  click('copy', copyText);
  click('search-next', () => goHit(1));
  click('search-previous', () => goHit(-1));
  let waiting = 0;
  $('search').addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => search($('search').value), 120);
  });
  $('glob').addEventListener('input', () => { VIEW.glob = $('glob').value; drawStage(); remember(); });
  document.addEventListener('keydown', onKey);
  addEventListener('hashchange', recall);
  // The names of functions stick below the bar, which is as high as it needs to be.
  new ResizeObserver(() => document.documentElement.style.setProperty('--bar', `${$('bar').offsetHeight}px`)).observe($('bar'));
  recall();
}

start();
