"""What a report of `pldc trace` does in a browser: browser_test.py --pldc PLDC. Skipped where there is no Chromium."""
import argparse
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import traceback

import webdriver

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = {'host': HERE.parent / 'data/corpus/host_allreduce_implicit/source.pld',
            'ring': HERE / 'incore_allreduce_ring.pld'}
CASES = []
VISITS = itertools.count()


def case(function):
    CASES.append(function)
    return function


class Report:
    """A report in the browser, and what pldc says of the same program."""

    def __init__(self, browser, pldc, source, folder, name, code=0):
        self.browser, self.pldc, self.source = browser, pldc, source
        self.file = pathlib.Path(folder) / f'{name}.html'
        done = subprocess.run([pldc, 'trace', source, '-o', self.file], stderr=subprocess.DEVNULL, check=False)
        same(done.returncode, code, name)
        html = self.file.read_text()
        self.data = json.loads(re.search(r'id="data">(.*?)</script>', html, re.S)[1])

    def open(self, address=''):
        # Another query each time: with another fragment alone the page would not be read again.
        self.browser.open(f'file://{self.file}?{next(VISITS)}{address}')

    def js(self, script, *args):
        return self.browser.run(script, *args)

    def dump(self, label):
        args = ['--passes=NONE'] if label == 'frontend' else [f'--dump-after={label}']
        return subprocess.run([self.pldc, *args, self.source], capture_output=True, text=True, check=True).stdout

    def label(self):
        return self.js('return stageNow().label')

    def until(self, script, *args):
        """Waits until the script gives something true, and gives it."""
        for _ in range(100):
            if value := self.js(script, *args):
                return value
            time.sleep(0.02)
        raise AssertionError(f'never true: {script}')


def same(found, wanted, what=''):
    assert found == wanted, f'{what}: found {found!r}, wanted {wanted!r}'


@case
def filters_choose_the_passes_that_are_listed(report):
    report.open()
    listed = 'return [...document.querySelectorAll("#pass-list .pass")].map(p => STAGES[p.dataset.index].state)'
    states = [s['state'] for s in report.data['stages']]
    for name, wanted in (('changed', {'changed'}), ('same', {'same', 'unprinted'}), ('all', set(states)),
                         ('ran', set(states) - {'missing'})):
        report.browser.click(f'#filter-{name}')
        same(report.js(listed), [s for i, s in enumerate(states) if i == 0 or s in wanted], name)
    report.browser.click('#filter-changed')
    same(report.js('return document.querySelector("#filter-changed").getAttribute("aria-pressed")'), 'true')
    assert 'show=changed' in report.js('return location.hash')


@case
def keys_walk_through_the_passes(report):
    report.open('#pass=frontend')
    changed = [i for i, s in enumerate(report.data['stages']) if s['state'] == 'changed']
    for index in changed:
        report.browser.keys('j')
        same(report.js('return VIEW.stage'), index, 'j')
    report.browser.keys('j')
    same(report.js('return VIEW.stage'), changed[-1], 'j at the end')
    report.browser.keys('kk')
    same(report.js('return VIEW.stage'), changed[-3], 'k')
    report.browser.keys('g' + webdriver.SHIFT + 'J')
    same(report.js('return VIEW.stage'), 1, 'g and J')
    report.browser.keys('K')
    same(report.js('return VIEW.stage'), 0, 'K')
    report.browser.keys('G')
    same(report.js('return VIEW.stage'), len(report.data['stages']) - 1, 'G')


@case
def keys_walk_through_the_changes(report):
    report.open('#pass=04_ConvertToSSA')
    hunks = report.js('return hunks.length')
    assert hunks > 2
    seen = []
    for _ in range(hunks):
        report.browser.keys('n')
        seen.append(report.js('''const r = document.querySelector("tr.here").getBoundingClientRect();
            return [hunkAt, r.top > 0 && r.bottom < innerHeight]'''))
    same(seen, [[i, True] for i in range(hunks)])
    report.browser.keys('n')
    same(report.js('return hunkAt'), 0, 'n goes round')
    report.browser.keys('p')
    same(report.js('return hunkAt'), hunks - 1, 'p goes back')


LINES = '''for (const t of document.querySelectorAll("table.rows")) if (!t.filled) t.fill();
    const text = (q) => [...document.querySelectorAll(q)].map(c => c.textContent);
    return [text(".c.old"), text(".c.new"), text(".c.same")];'''


@case
def both_layouts_and_the_text_show_the_same_lines(report):
    report.open()
    for stage in (s for s in report.data['stages'] if s['state'] == 'changed'):
        report.js('location.hash = arguments[0]', f'pass={stage["number"]:02}_{stage["name"]}&view=split')
        report.until('return stageNow().name === arguments[0] && VIEW.layout === "split"', stage['name'])
        old, new, _ = report.js(LINES)
        same([len(old), len(new)], [stage['removed'], stage['added']], stage['name'])
        report.browser.keys('s')
        same(report.js('return VIEW.layout'), 'stack')
        same([sorted(part) for part in report.js(LINES)[:2]], [sorted(old), sorted(new)], stage['name'])
        report.browser.keys('f')
        text = report.dump(report.label())
        same('\n'.join(line for line in report.js(LINES)[2]).split(), text.split(), stage['name'])


@case
def changed_characters_are_marked(report):
    report.open('#pass=04_ConvertToSSA&view=split')
    old, new = report.js('''for (const t of document.querySelectorAll("table.rows")) if (!t.filled) t.fill();
        return ["old", "new"].map(side => [...document.querySelectorAll(`.c.${side}`)].map(c =>
          [...c.childNodes].filter(n => !(n.classList && n.classList.contains("chg"))).map(n => n.textContent).join("")))''')
    same(old, new, 'without the marks')
    marks = report.js('return [...new Set([...document.querySelectorAll(".new .chg")].map(c => c.textContent))].sort()')
    assert '__ssa_v0' in marks and all(re.fullmatch(r'(__)?(ssa|idx|rv|iter|tmp)?(_?v\d+)?|\w{1,12}', m) for m in marks), marks


@case
def unchanged_lines_unfold(report):
    report.open('#pass=43_LowerHostTensorCollectives' if report.file.stem == 'host' else '#pass=48_InsertCommFence')
    gap = report.until('const g = document.querySelector(".gap-all"); return g && g.textContent')
    hidden = int(gap.split()[0])
    before = len(report.js(LINES)[2])
    report.browser.click('.gap-all')
    same(len(report.js(LINES)[2]) - before, 2 * hidden)
    report.browser.keys('e')
    # Rows are made when they come near to the screen: the counts want all of them.
    report.js(LINES)
    same(report.js('return document.querySelectorAll(".gap").length'), 0, 'e shows all')
    report.browser.keys('e')
    report.js(LINES)
    assert report.js('return document.querySelectorAll(".gap").length') > 0, 'e folds'
    # A function that did not change opens on its name.
    report.open('#pass=04_ConvertToSSA')
    report.browser.click('.piece:not(.changed) .piece-head')
    assert report.until('return document.querySelectorAll(".piece.open:not(.changed) .c.same").length') > 0


@case
def copy_gives_what_a_dump_prints(report):
    for label in ('frontend', '04_ConvertToSSA', '11_ConvertTensorToTileOps', '45_Simplify', '49_MaterializeValidShapeSymbols'):
        report.open(f'#pass={label}')
        same(report.label(), label)
        report.browser.may_read_clipboard()
        if label == '45_Simplify':
            report.browser.keys('c')
        else:
            report.browser.click('#copy')
        report.until('return document.getElementById("said").textContent.startsWith("Copied")')
        same(report.js('return navigator.clipboard.readText()'), report.dump(label), label)


@case
def functions_are_filtered_by_globs(report):
    report.open('#pass=04_ConvertToSSA')
    names = 'return shownPieces.map(p => functionName(p.name))'
    everything = report.js(names)
    report.browser.keys('o')
    report.browser.keys('*st')
    same(report.js(names), [n for n in everything if n.endswith('st')])
    assert 'func=*st' in report.js('return decodeURIComponent(location.hash)')
    report.open('#pass=04_ConvertToSSA&func=ho')
    same(report.js(names), ['host'])
    report.open('#pass=04_ConvertToSSA&func=nothing')
    same(report.js('return document.querySelector("#content .empty") !== null'), True)


@case
def search_finds_unfolds_and_counts(report):
    report.open('#pass=48_InsertCommFence')
    report.browser.keys('/')
    report.browser.keys('return')
    text = report.dump('48_InsertCommFence')
    wanted = sum('return' in line for line in text.splitlines())
    report.until('return document.getElementById("search-count").textContent.endsWith(arguments[0])', f'of {wanted}')
    found = []
    for _ in range(wanted):
        found.append(report.js('''const r = document.querySelector("tr.here");
            return [r.textContent, r.querySelectorAll(".hit").length > 0]'''))
        report.browser.keys('\ue007')
    assert all('return' in line and hit for line, hit in found), found
    counts = report.js('''return [...document.querySelectorAll("#pass-list .pass")].map(p =>
        [STAGES[p.dataset.index].label, p.querySelector(".found").textContent])''')
    for label, count in counts[:3] + counts[-3:]:
        same(count, str(sum('return' in line for line in report.dump(label).splitlines())), label)
    report.browser.keys('\ue00c')
    report.browser.keys('j')
    same(report.label(), '48_InsertCommFence', 'Escape leaves the field; nothing changes after this pass')


@case
def light_and_dark(report):
    brightness = '''const c = getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).map(Number);
        return c[0] + c[1] + c[2] > 380 ? "light" : "dark"'''
    for scheme in ('dark', 'light'):
        report.browser.prefer(scheme)
        report.open()
        report.js('localStorage.clear(); delete document.documentElement.dataset.theme')
        same(report.js(brightness), scheme)
        report.browser.click('#theme')
        other = 'light' if scheme == 'dark' else 'dark'
        same(report.js(brightness), other)
        report.open()
        same(report.js(brightness), other, 'is kept')
        report.browser.keys('t')
        same(report.js(brightness), scheme)
        report.js('localStorage.clear()')


@case
def the_second_tab_draws_the_program(report):
    report.open()
    report.browser.keys('2')
    same(report.js('return [document.getElementById("passes").hidden, document.getElementById("map").hidden]'), [True, False])
    assert 'tab=program' in report.js('return location.hash')
    entry = report.data['map']['manifest']['entries'][0]
    rows = report.js('return [...document.querySelectorAll(".slots tbody tr")].map(r => [...r.cells].map(c => c.textContent))')
    slots = [slot for domain in entry['domains'] for slot in domain['slots']]
    same([r[1] for r in rows], [s['name'] for s in slots])
    for row, slot in zip(rows, slots):
        if slot['offset'] is not None:
            same(row[3], f'{slot["offset"]:,}')
        if isinstance(slot['bytes'], int):
            same(row[4], f'{slot["bytes"]:,}')
    text = report.js('return document.querySelector(".flow").textContent')
    assert 'device r' in text and 'for r in range(pld.system.world_size())' in text
    report.browser.click('#tab-passes')
    same(report.js('return document.getElementById("map").hidden'), True)
    report.open('#tab=program')
    same(report.js('return document.getElementById("map").hidden'), False)


@case
def addresses_lead_back(report):
    report.open('#pass=42_MaterializeCommDomainScopes&func=host&view=stack&show=all')
    same(report.js('return [stageNow().label, VIEW.glob, VIEW.layout, VIEW.filter]'),
         ['42_MaterializeCommDomainScopes', 'host', 'stack', 'all'])
    report.browser.keys('k')
    address = report.js('return location.hash')
    report.open(address)
    same(report.js('return location.hash'), address)
    report.open('#pass=Nothing&view=odd&show=odd')
    same(report.js('return stageNow().state'), 'changed', 'an address that leads nowhere')


@case
def help_lists_every_key(report):
    report.open()
    report.browser.keys('?')
    same(report.js('return document.getElementById("help").open'), True)
    same(report.js('return [...document.querySelectorAll("#help kbd")].map(k => k.textContent)'),
         report.js('return KEYS.flatMap(g => g[1].map(k => k[0]))'))
    report.browser.keys('j')
    same(report.js('return VIEW.stage'), report.js('return STAGES.find(s => s.state === "changed").index'), 'keys rest')
    report.browser.click('#help form button')
    same(report.js('return document.getElementById("help").open'), False)


@case
def nothing_sticks_out_of_a_narrow_window(report):
    for address in ('', '#tab=program', '#view=split&pass=42_MaterializeCommDomainScopes'):
        report.browser.resize(800, 900)
        report.open(address)
        same(report.js('''return [document.documentElement.scrollWidth <= innerWidth,
            document.getElementById("stage").scrollWidth <= document.getElementById("stage").clientWidth,
            document.getElementById("map").scrollWidth <= document.getElementById("map").clientWidth]'''), [True] * 3, address)
    report.browser.resize(1400, 900)


def rank_lanes(report):
    """Only of a program whose number of ranks is known."""
    report.open('#tab=program')
    same(report.js('return [...document.querySelectorAll(".lane-name")].map(n => n.textContent)'),
         [f'rank {i}' for i in range(4)])
    host = report.data['map']['messages']['hosts'][0]
    same(report.js('return document.querySelectorAll(".event").length'), host['total'], 'events')
    waits = sum(e['kind'] == 'wait' for events in host['events'] for e in events)
    assert report.js('return document.querySelectorAll(".arrow").length') >= waits
    same(report.js('return document.querySelectorAll(".blocked").length'), 0, 'blocked')
    boxes = report.js('''return [...document.querySelectorAll(".event-name, .lane-name")].map(n => {
        const b = n.getBBox(); return [b.x, b.y, b.x + b.width, b.y + b.height, n.textContent]; })''')
    for a, b in itertools.combinations(boxes, 2):
        apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] + 1 or b[3] <= a[1] + 1
        assert apart, f'{a} lies over {b}'
    crossed = report.js('''const boxes = [...document.querySelectorAll(".event-name")].map(n => n.getBBox());
        return [...document.querySelectorAll(".arrow")].filter(a => {
          for (let at = 0; at < a.getTotalLength(); at += 3) {
            const p = a.getPointAtLength(at);
            if (boxes.some(b => p.x > b.x && p.x < b.x + b.width && p.y > b.y && p.y < b.y + b.height)) return true;
          }
          return false; }).length''')
    same(crossed, 0, 'arrows through labels')
    point_at = '''document.querySelector(".event.notify").dispatchEvent(new PointerEvent(arguments[0]));
        return document.querySelectorAll(".arrow:not(.dim)").length'''
    same(report.js(point_at, 'pointerenter'), 1, 'arrows of the notify that is pointed at')
    assert report.js(point_at, 'pointerleave') > 1
    downwards = report.js('''const host = DATA.map.messages.hosts[0];
        return schedule(host).arrows.every(a => a.to.row > a.from.row)''')
    same(downwards, True, 'time runs downwards')


def the_page_is_sealed(report):
    """A program that would like to be markup, and a page that may not connect to anything."""
    report.open()
    same(report.js('return [window.hacked === undefined, document.querySelectorAll("script").length, document.images.length]'),
         [True, 2, 0])
    assert '</script>' in report.js('return document.getElementById("content").textContent')
    blocked = report.js('''return new Promise(done => {
        addEventListener("securitypolicyviolation", e => done(e.effectiveDirective));
        fetch("http://127.0.0.1:9/").catch(() => {});
        setTimeout(() => done("nothing was stopped"), 2000); })''')
    same(blocked, 'connect-src')
    report.js('document.body.insertAdjacentHTML("beforeend", "<img src=x onerror=\\"window.hacked = 1\\">")')
    time.sleep(0.05)
    same(report.js('return window.hacked === undefined'), True, 'a handler in markup')
    report.browser.complaints()  # those were wanted


def a_failed_pass_comes_first(report):
    report.open()
    same(report.js('return stageNow().state'), 'failed')
    assert report.js('return document.querySelector("#about .diag.error .diag-source mark") !== null')
    report.browser.keys('J')
    same(report.js('return stageNow().state'), 'unreached')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--pldc', required=True)
    options = parser.parse_args()
    if lacking := webdriver.missing():
        print(f'skipped: {" and ".join(lacking)} not installed (Debian: chromium chromium-driver)')
        print('0 passed, 0 failed')
        return 77
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder, webdriver.Browser() as browser:
        reports = {name: Report(browser, options.pldc, source, folder, name) for name, source in PROGRAMS.items()}
        hostile = pathlib.Path(folder) / 'hostile.pld'
        hostile.write_text(PROGRAMS['ring'].read_text().replace(
            '        local = ', '        # </script><script>window.hacked = 1</script><img src=x onerror="window.hacked=1">\n        local = '))
        jobs = [(test, reports[name]) for name in reports for test in CASES] + [(rank_lanes, reports['ring'])]
        jobs.append((the_page_is_sealed, Report(browser, options.pldc, hostile, folder, 'hostile')))
        rejected = HERE.parent / 'data/corpus/pass_synth_loop_rejected/source.pld'
        jobs.append((a_failed_pass_comes_first, Report(browser, options.pldc, rejected, folder, 'failing', code=1)))
        for test, report in jobs:
            try:
                test(report)
                complaints = browser.complaints()
                assert not complaints, complaints
                passed += 1
            except (AssertionError, RuntimeError, KeyError) as error:
                failed += 1
                place = traceback.extract_tb(error.__traceback__)
                print(f'{test.__name__} ({report.file.stem}): {error} [line {[f.lineno for f in place][-2:]}]')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
