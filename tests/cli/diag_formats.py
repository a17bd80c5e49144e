#!/usr/bin/env python3
"""Diagnostics for machines: --diag-format=sarif is SARIF 2.1.0, --diag-format=json what pldc(1) says.

    diag_formats.py --pldc=build/src/driver/pldc

The validator knows the required properties, the types and the enumerations of section 3 of the standard (OASIS, Static
Analysis Results Interchange Format 2.1.0) for the objects that pldc writes, and refuses properties that it does not
know. The last line is `N passed, N failed`.
"""
import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ERRORS = ROOT / 'tests/data/errors'

TEXT, COUNT, INDEX = 'text', 'a whole number from 1', 'a whole number from 0'
URI = 'a URI reference'


class Many:
    """An array of `of`."""

    def __init__(self, of):
        self.of = of


class One:
    """One of some words."""

    def __init__(self, *words):
        self.words = words


# object: {property: (required, type)}
SARIF = {
    'log': {'$schema': (False, URI), 'version': (True, One('2.1.0')), 'runs': (True, Many('run'))},  # 3.13
    'run': {'tool': (True, 'tool'), 'results': (False, Many('result')),  # 3.14
            'columnKind': (False, One('utf16CodeUnits', 'unicodeCodePoints'))},
    'tool': {'driver': (True, 'component')},  # 3.18
    'component': {'name': (True, TEXT), 'version': (False, TEXT), 'informationUri': (False, URI),  # 3.19
                  'rules': (False, Many('rule'))},
    'rule': {'id': (True, TEXT), 'name': (False, TEXT), 'shortDescription': (False, 'message')},  # 3.49
    'result': {'ruleId': (False, TEXT), 'ruleIndex': (False, INDEX), 'message': (True, 'message'),  # 3.27
               'level': (False, One('none', 'note', 'warning', 'error')), 'locations': (False, Many('location')),
               'relatedLocations': (False, Many('location')), 'fixes': (False, Many('fix'))},
    'fix': {'description': (False, 'message'), 'artifactChanges': (True, Many('change'))},  # 3.55
    'change': {'artifactLocation': (True, 'artifact'), 'replacements': (True, Many('replacement'))},  # 3.56
    'replacement': {'deletedRegion': (True, 'region'), 'insertedContent': (False, 'content')},  # 3.57
    'content': {'text': (False, TEXT)},  # 3.3
    'location': {'physicalLocation': (False, 'physical'), 'message': (False, 'message')},  # 3.28
    'physical': {'artifactLocation': (True, 'artifact'), 'region': (False, 'region')},  # 3.29
    'artifact': {'uri': (True, URI)},  # 3.4
    'region': {'startLine': (True, COUNT), 'startColumn': (False, COUNT), 'endLine': (False, COUNT),  # 3.30
               'endColumn': (False, COUNT)},
    'message': {'text': (True, TEXT)},  # 3.11
}
PLACE = {'file': (False, TEXT), 'line': (False, COUNT), 'column': (False, COUNT), 'end_line': (False, COUNT),
         'end_column': (False, COUNT)}
JSON = {
    'diagnostic': {'severity': (True, One('error', 'warning', 'note')), 'code': (True, TEXT), 'id': (True, TEXT),
                   'message': (True, TEXT), 'help': (True, Many(TEXT)), 'notes': (True, Many('note')),
                   'fixes': (True, Many('fix')), **PLACE},
    'fix': {'title': (True, TEXT), 'text': (True, TEXT), **{name: (True, kind) for name, (_, kind) in PLACE.items()}},
    'note': {'message': (True, TEXT), **PLACE},
}


def faults(value, kind, schema, path='$'):
    """What is wrong with a value of this kind: lines that begin with its path."""
    if isinstance(kind, Many):
        if not isinstance(value, list):
            yield f'{path}: no array'
        else:
            for i, item in enumerate(value):
                yield from faults(item, kind.of, schema, f'{path}[{i}]')
    elif isinstance(kind, One):
        if value not in kind.words:
            yield f'{path}: {value!r} is none of {", ".join(kind.words)}'
    elif kind == TEXT:
        if not isinstance(value, str):
            yield f'{path}: no text'
    elif kind == URI:
        if not isinstance(value, str) or not re.fullmatch(r"(?:[\w.~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-F]{2})*", value, re.A):
            yield f'{path}: {value!r} is no URI reference'
    elif kind in (COUNT, INDEX):
        if type(value) is not int or value < (kind == COUNT):
            yield f'{path}: {value!r} is not {kind}'
    else:
        members = schema[kind]
        if not isinstance(value, dict):
            yield f'{path}: no object'
            return
        yield from (f'{path}: no {name}' for name, (required, _) in members.items() if required and name not in value)
        for name, item in value.items():
            if name not in members:
                yield f'{path}: the property {name} is not known'
            else:
                yield from faults(item, members[name][1], schema, f'{path}.{name}')


def sarif_faults(text):
    """Of a document, with what its parts say about each other."""
    try:
        log = json.loads(text)
    except ValueError as error:
        yield f'no JSON: {error}: {text[:200]!r}'
        return
    found = list(faults(log, 'log', SARIF))
    yield from found
    if found:
        return
    if len(log['runs']) != 1:
        yield f'{len(log["runs"])} runs'
    for run in log['runs']:
        rules = [rule['id'] for rule in run['tool']['driver']['rules']]
        if len(set(rules)) != len(rules):
            yield 'a rule occurs twice'
        if 'columnKind' not in run:
            yield 'no columnKind, though columns are not in UTF-16'
        for result in run['results']:
            if rules[result['ruleIndex']:result['ruleIndex'] + 1] != [result['ruleId']]:
                yield f'rule {result["ruleIndex"]} is not {result["ruleId"]}'
            for location in result['locations'] + result.get('relatedLocations', []):
                region = location.get('physicalLocation', {}).get('region')
                if region and (region['endLine'], region['endColumn']) < (region['startLine'], region['startColumn']):
                    yield f'a region ends before it begins: {region}'


def json_faults(text):
    for number, line in enumerate(text.splitlines(), 1):
        try:
            value = json.loads(line)
        except ValueError as error:
            yield f'line {number}: no JSON: {error}: {line[:200]!r}'
            continue
        yield from (f'line {number}: {fault}' for fault in faults(value, 'diagnostic', JSON))
        if ('line' in value) != ('file' in value) or not re.fullmatch(r'PLD\d{4}', value['code']):
            yield f'line {number}: a place without a line, or no code'


class Suite:
    def __init__(self, pldc):
        self.pldc, self.passed, self.failed = pldc, 0, 0

    def stderr(self, words, folder, form):
        done = subprocess.run([str(self.pldc), *words, f'--diag-format={form}'], cwd=folder, capture_output=True,
                              stdin=subprocess.DEVNULL, check=False)
        return done.stderr.decode('utf-8')

    def note(self, name, found):
        found = list(found)
        for fault in found[:5]:
            print(f'{name}: {fault}')
        self.passed += not found
        self.failed += bool(found)

    def both(self, name, words, folder):
        """The SARIF document and the JSON lines of a command, both valid and of the same diagnostics."""
        text, lines = self.stderr(words, folder, 'sarif'), self.stderr(words, folder, 'json')
        found = [*sarif_faults(text), *json_faults(lines)]
        if not found:
            results = json.loads(text)['runs'][0]['results']
            codes = [json.loads(line)['code'] for line in lines.splitlines()]
            if [result['ruleId'] for result in results] != codes:
                found.append(f'SARIF has other diagnostics than JSON: {codes}')
        self.note(name, found)
        return (json.loads(text)['runs'][0], [json.loads(line) for line in lines.splitlines()]) if not found else (None, None)


def fixed_by_json(text, fix):
    """The text with the change made; columns count bytes."""
    lines = text.encode().split(b'\n')
    line = lines[fix['line'] - 1]
    if fix['end_line'] != fix['line']:
        raise ValueError('a fix of several lines')
    lines[fix['line'] - 1] = line[:fix['column'] - 1] + fix['text'].encode() + line[fix['end_column'] - 1:]
    return b'\n'.join(lines).decode()


def fixed_by_sarif(text, fix):
    """The same by a SARIF fix; columns count characters."""
    change, = fix['artifactChanges']
    replacement, = change['replacements']
    region = replacement['deletedRegion']
    lines = text.split('\n')
    line = lines[region['startLine'] - 1]
    lines[region['startLine'] - 1] = (line[:region['startColumn'] - 1] + replacement['insertedContent']['text'] +
                                      line[region['endColumn'] - 1:])
    return '\n'.join(lines)


def fixes(suite):
    """What the fixes of the golden cases make of their programs: both forms the same, and what was reported is gone."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        count = 0
        for path in sorted(ERRORS.glob('*.pld')):
            said = path.with_suffix('.err').read_text()
            if not re.search("did you mean|: add '.*' (?:here|above)$", said, re.M) or path.with_suffix('.cmd').exists():
                continue
            text = path.read_text()
            run, lines = suite.both(f'fixes: {path.name}', ['check', path.name], ERRORS)
            for result, line in zip(run['results'], lines):
                for sarif, fix in zip(result.get('fixes', []), line['fixes'], strict=True):
                    count += 1
                    after = fixed_by_json(text, fix)
                    found = [] if fixed_by_sarif(text, sarif) == after else ['SARIF and JSON differ']
                    (folder / path.name).write_text(after)
                    left = diagnostics_of(suite, path.name, folder)
                    if any((other['code'], other.get('line'), other['message']) ==
                           (line['code'], line['line'], line['message']) for other in left):
                        found.append(f'the same diagnostic is there after {fix["title"]}')
                    suite.note(f'fixes: {path.name}:{line["line"]}', found)
        suite.note('fixes: enough of them', [] if count >= 10 else [f'only {count}'])
        # Behind characters of two and of four bytes.
        good = (ROOT / 'samples/scale_add.pld').read_text()
        wrong = re.sub(r'.*left = .*', lambda _: '        left = pl.load(a, "é𝄞", pl.lod(a))', good)
        (folder / 'wide.pld').write_text(wrong)
        run, lines = suite.both('fixes: wide characters', ['check', 'wide.pld'], folder)
        made = {(fixed_by_json(wrong, f), fixed_by_sarif(wrong, s)) for r, l in zip(run['results'], lines)
                for s, f in zip(r.get('fixes', []), l['fixes'], strict=True)}
        right = wrong.replace('pl.lod', 'pl.load')
        suite.note('fixes: wide characters: made', [] if made == {(right, right)} else [made])


def insertions(suite):
    """What is missing at the end of a line, or above it, is put in: the program is then accepted, and is what it was."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        count = 0
        for sample in ('scale_add.pld', 'tutorial/2_hang.pld'):
            good = (ROOT / 'samples' / sample).read_text()
            lines = good.split('\n')
            for i, line in enumerate(lines):
                if line.startswith('@pl.program'):
                    less = lines[:i] + lines[i + 1:]
                elif line.startswith(('class ', '    def ', '        for ', '        if ')) and line.endswith(':') or (
                        re.match(r' {8,}(?:\w+ = |return |p)', line) and line.endswith(')')):
                    less = lines[:i] + [line[:-1]] + lines[i + 1:]
                else:
                    continue
                less = '\n'.join(less)
                (folder / 'less.pld').write_text(less)
                where = f'insertions: {sample}:{i + 1}'
                run, found = suite.both(where, ['check', 'less.pld'], folder)
                made = {(fixed_by_json(less, f), fixed_by_sarif(less, s)) for r, d in zip(run['results'][:1], found[:1])
                        for s, f in zip(r.get('fixes', []), d['fixes'], strict=True)}
                count += made == {(good, good)}
                # A call at the end of a body may as well go on in the next line.
                suite.note(f'{where}: made', [] if made <= {(good, good)} else [made])
        suite.note('insertions: enough of them', [] if count >= 12 else [f'only {count}'])


def diagnostics_of(suite, name, folder):
    return [json.loads(line) for line in suite.stderr(['check', name], folder, 'json').splitlines()]


def every_golden(suite):
    """The commands of the golden tests; those that run programs need a compiler and more time."""
    plain = sorted(p.name for p in ERRORS.glob('*.pld') if not p.with_suffix('.cmd').exists())
    with tempfile.TemporaryDirectory() as folder:
        run, lines = suite.both('check of all', ['check', '--max-errors=0', *plain], ERRORS)
        if run is not None:
            suite.note('several files', [] if len({line['file'] for line in lines if 'file' in line}) > 50 else ['few files'])
            suite.note('related places', [] if any('relatedLocations' in r for r in run['results']) else ['none'])
        for path in sorted(ERRORS.glob('*.cmd')):
            words = shlex.split(path.read_text().replace('%s', path.stem + '.pld').replace('%t', folder))
            # Not what writes beside the cases, and what ends with words of its own.
            if words[0] not in ('run', 'build', 'reduce', 'replay') and not {'-i', '--crash=check'} & {*words}:
                suite.both(path.name, words, ERRORS)


def special_cases(suite):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        good = (ROOT / 'samples/scale_add.pld').read_text()
        (folder / 'good.pld').write_text(good)
        run, lines = suite.both('no diagnostics', ['check', 'good.pld'], folder)
        suite.note('no diagnostics: empty', [] if run and run['results'] == [] and lines == [] else ['something'])
        suite.both('wrong command line', ['chekc', 'good.pld'], folder)
        suite.both('no file', ['check', 'none.pld'], folder)

        # Names that a URI cannot hold as they are, and columns behind characters of two and of four bytes.
        odd = 'a b#%é?.pld'
        line = '        left = pl.lod(a, "é𝄞", [ROWS, COLS])'
        (folder / odd).write_text(re.sub(r'.*left = .*', lambda _: line, good))
        run, lines = suite.both('odd name', ['check', odd], folder)
        if run is not None:
            place = run['results'][0]['locations'][0]['physicalLocation']
            suite.note('odd name: URI', [] if place['artifactLocation']['uri'] == 'a%20b%23%25%C3%A9%3F.pld' else [place])
            suite.note('odd name: file', [] if lines[0]['file'] == odd else [lines[0]])
        line = '        left = pl.load(a, "é𝄞", pl.lod(a))'
        (folder / odd).write_text(re.sub(r'.*left = .*', lambda _: line, good))
        run, lines = suite.both('columns', ['check', odd], folder)
        if run is not None:
            columns = [r['locations'][0]['physicalLocation']['region']['startColumn'] for r in run['results']]
            wanted = line.index('pl.lod') + 1
            in_bytes = len(line[:wanted - 1].encode()) + 1
            suite.note('columns: characters', [] if wanted in columns else [f'{columns}, none is {wanted}'])
            suite.note('columns: bytes', [] if in_bytes in [l['column'] for l in lines] else [f'none is {in_bytes}'])

        # A program that pldc starts says what it says as a diagnostic, too.
        run, lines = suite.both('a run that hangs', ['run', '--ranks=2', '--random',
                                                     str(ROOT / 'samples/tutorial/2_hang.pld')], folder)
        suite.note('a run that hangs: code', [] if lines and lines[-1]['id'] == 'program_failed' and
                   lines[-1]['message'].startswith('deadlock: ') else [lines])


def nothing_else_on_stderr(suite):
    """What pldc says besides diagnostics is a note, and what is asked for is on stdout: stderr stays readable by machines."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / 'good.pld').write_text((ROOT / 'samples/scale_add.pld').read_text())
        for words, said in ((['opt', '-vv', '--timing', '--stats'], 'tensor.store|statements'),
                            (['opt', '--timing=json'], '"passes":'),
                            (['opt', '--dump-all', '--dump-dir=D'], r'wrote \d+ dumps to D'),
                            (['opt', '--dump-after=Simplify', '-v'], 'reading good.pld'),
                            (['fmt', '-v'], 'reading good.pld'),
                            (['roundtrip', '--semantic', '--each', '--stats'], 'statements'),
                            (['check', '-vvv', '--ranks=2'], 'reading good.pld'),
                            (['trace', '-v', '-o', 'report.html'], 'reading good.pld'),
                            (['reduce', '-v', '--test=grep -q mul {}', '--timeout=5'], 'lines are left after'),
                            (['build', '--cxx=false', '-j1', '-o', 'out'], r'\*\*\* ')):
            run, lines = suite.both(f'only diagnostics: {words}', [*words, 'good.pld'], folder)
            notes = [line['message'] for line in lines or [] if line['id'] == 'said']
            suite.note(f'a note: {words}', [] if any(re.search(said, note) for note in notes) else [f'{said}: {notes}'])


def the_validator_can_fail(suite):
    """It would be worth nothing if it accepted everything."""
    good = {'version': '2.1.0', 'runs': [{'tool': {'driver': {'name': 'x', 'rules': [{'id': 'A'}]}},
                                          'columnKind': 'utf16CodeUnits',
                                          'results': [{'ruleId': 'A', 'ruleIndex': 0, 'message': {'text': 'm'},
                                                       'locations': []}]}]}
    suite.note('validator: accepts', sarif_faults(json.dumps(good)))
    for path, value in ((['version'], '2.0.0'), (['runs'], {}), (['runs', 0, 'tool'], {}),
                        (['runs', 0, 'columnKind'], 'bytes'), (['runs', 0, 'results', 0, 'message'], {}),
                        (['runs', 0, 'results', 0, 'ruleIndex'], 1), (['runs', 0, 'results', 0, 'level'], 'fatal'),
                        (['runs', 0, 'results', 0, 'locations'],
                         [{'physicalLocation': {'artifactLocation': {'uri': 'a b'}}}]),
                        (['runs', 0, 'results', 0, 'locations'], [{'physicalLocation': {
                            'artifactLocation': {'uri': 'a'}, 'region': {'startLine': 0}}}])):
        bad = json.loads(json.dumps(good))
        place = bad
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        suite.note(f'validator: refuses {path}', [] if list(sarif_faults(json.dumps(bad))) else ['accepted'])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--pldc', default='build/src/driver/pldc', type=lambda p: pathlib.Path(p).resolve())
    suite = Suite(parser.parse_args().pldc)
    fixes(suite)
    insertions(suite)
    nothing_else_on_stderr(suite)
    the_validator_can_fail(suite)
    special_cases(suite)
    every_golden(suite)
    print(f'{suite.passed} passed, {suite.failed} failed')
    return 1 if suite.failed else 0


sys.exit(main())
