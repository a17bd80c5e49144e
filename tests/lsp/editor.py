"""What an editor asks of `pldc lsp`."""
import json
import pathlib
import re
import subprocess

from cases import PROGRAM, URI, equal, test
from client import Client, covered, place

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def labels(result):
    return [item['label'] for item in result['items']]


def complete(client, text):
    """Completion at the mark `|`, which is taken out."""
    where = place(text, '|')
    client.change({'text': text.replace('|', '', 1)})
    return client.at('completion', where)


@test
def life(pldc):
    client = Client(pldc)
    equal(client.capabilities['capabilities']['positionEncoding'], 'utf-16')
    equal(client.capabilities['serverInfo']['name'], 'pldc')
    equal(client.open(PROGRAM), [])
    equal(client.stop(), 0)
    equal(client.stderr, '')
    client = Client(pldc, '--stdio', '--max-errors=3')
    client.notify('exit', None)
    equal(client.wait(), 1)
    equal(Client(pldc, start=False).wait(), 1)  # the client went away


@test
def diagnostics_while_typing(pldc):
    client = Client(pldc)
    wrong = PROGRAM.replace('pl.load(x', 'pl.lod(x').replace('muls(acc', 'muls(ac')
    found = client.open(wrong)
    equal(len(found), 2)
    by_code = {d['code']: d for d in found}
    lod = by_code['PLD0401']
    equal(covered(wrong, lod['range']), 'pl.lod')
    equal((lod['severity'], lod['source']), (1, 'pldc'))
    assert "did you mean 'pl.load'?" in lod['message'], lod
    # One letter repairs one of them.
    where = place(wrong, 'pl.lod', behind=True)
    where['character'] -= 1
    found = client.change({'range': {'start': where, 'end': where}, 'text': 'a'})
    equal(len(found), 1)
    where = place(PROGRAM, 'muls(ac', behind=True)
    equal(client.change({'range': {'start': where, 'end': where}, 'text': 'c'}), [])
    # Several changes in one message, each on the text that the one before it left.
    found = client.change({'range': {'start': {'line': 0, 'character': 0}, 'end': {'line': 0, 'character': 0}},
                           'text': '\n'},
                          {'range': {'start': {'line': 1, 'character': 0}, 'end': {'line': 1, 'character': 6}},
                           'text': 'inport'})
    assert found and found[0]['range']['start']['line'] == 1, found
    equal(client.change({'text': PROGRAM}), [])
    client.notify('textDocument/didSave', {'textDocument': {'uri': URI}})
    client.notify('textDocument/didClose', {'textDocument': {'uri': URI}})
    equal(client.diagnostics(URI), [])
    equal(client.stop(), 0)


@test
def diagnostics_are_those_of_check(pldc):
    """Every text of tests/data/errors that is not about options: codes, places, notes and helps as `pldc check` has them."""
    client = Client(pldc, '--max-errors=0')
    seen = related = 0
    for path in sorted((ROOT / 'tests/data/errors').glob('*.pld'))[::3]:
        text = path.read_bytes().decode('utf-8', 'replace')
        if '\r' in text or '\0' in text or text.encode() != path.read_bytes():
            continue
        run = subprocess.run([pldc, 'check', '--max-errors=0', '--diag-format=json', '-'], input=text.encode(),
                             capture_output=True)
        wanted = [json.loads(line) for line in run.stderr.decode().splitlines()]
        found = client.open(text, uri=path.as_uri())
        equal([d['code'] for d in found], [d['code'] for d in wanted])
        for f, w in zip(found, wanted):
            if w.get('line'):
                line = text.split('\n')[f['range']['start']['line']]
                column = len(line.encode('utf-16-le')[:2 * f['range']['start']['character']].decode('utf-16-le').encode())
                equal((path.name, f['range']['start']['line'] + 1, column + 1), (path.name, w['line'], w['column']))
            assert f['message'].startswith(w['message']), (f, w)
            related += len(f.get('relatedInformation', []))
        seen += len(found)
    assert seen > 50 and related > 3, (seen, related)
    equal(client.stop(), 0)


@test
def positions_are_utf16(pldc):
    client = Client(pldc)
    text = PROGRAM.replace('        tile = pl.load', '        # \U0001f680 é 漢\n        tile = pl.load')
    text = text.replace('"ROWS")', '"ROWS")  # \U0001f680\U0001f680')
    equal(client.open(text), [])
    # An edit behind characters of two units, then an error behind them.
    where = place(text, '\U0001f680\U0001f680', behind=True)
    found = client.change({'range': {'start': where, 'end': where}, 'text': '\nK = \U0001f680 '})
    equal(len(found), 1)
    now = text.replace('\U0001f680\U0001f680', '\U0001f680\U0001f680\nK = \U0001f680 ')
    equal(covered(now, found[0]['range']), '\U0001f680')
    equal(found[0]['range']['end']['character'] - found[0]['range']['start']['character'], 2)
    client.change({'text': text})
    about = client.at('hover', place(text, 'tile = pl.load'))
    equal(covered(text, about['range']), 'tile')
    # Lines may end in three ways.
    client.change({'text': PROGRAM.replace('\n', '\r\n')})
    about = client.at('hover', place(PROGRAM, 'tile = pl.load'))
    equal(covered(PROGRAM, about['range']), 'tile')
    # Half a character, and places that are not there.
    client.change({'text': '# \U0001f680\n'})
    for line, character in ((0, 3), (0, 10 ** 9), (10 ** 9, 0), (1, 5)):
        equal(client.at('hover', {'line': line, 'character': character}), None)
    client.change({'range': {'start': {'line': 0, 'character': 10 ** 12}, 'end': {'line': 0, 'character': 1}}, 'text': ''})
    equal(client.stop(), 0)


@test
def hover(pldc):
    client = Client(pldc)
    client.open(PROGRAM)

    def about(mark, **more):
        found = client.at('hover', place(PROGRAM, mark, **more))
        return found['contents']['value'] if found else ''
    assert 'tile: pl.Tile[[1, 64], pl.FP32' in about('tile = pl.load'), about('tile = pl.load')
    assert 'y: pl.Out[pl.Tensor[[1, 64], pl.FP32]]' in about('y)\n'), about('y)\n')
    assert 'carried by a loop' in about('acc, k)')
    assert 'N = 64' in about('N], pl.FP32], k')
    assert 'symbol' in about('ROWS = ')
    assert 'pl.tile.load(' in about('load(x'), about('load(x')
    assert 'pl.tile.muls(' in about('tile.muls')
    assert 'def kernel(x: ' in about('kernel(x, k, y)')
    assert 'def kernel(x: ' in about('kernel(self')
    assert 'Orchestration' in about('FunctionType.InCore') and 'members' in about('FunctionType.InCore')
    assert 'a member' in about('InCore)')
    assert 'dtype of 32 bits' in about('FP32')
    assert 'a type' in about('Tensor[[1')
    assert 'a sequential loop' in about('range(4')
    assert '`with pl' not in about('yield_') and 'values that a branch' in about('yield_')
    equal(about('return'), '')
    # Also where the call does not parse, where a name is ambiguous, and for passes in comments of dumps.
    text = PROGRAM.replace('        return y\n', '        # after Simplify\n        z = pl.add(x,\n')
    client.change({'text': text})
    found = client.at('hover', place(text, 'add(x,'))['contents']['value']
    assert 'pl.tile.add(' in found and 'pl.tensor.add(' in found, found
    assert 'a pass' in client.at('hover', place(text, 'Simplify'))['contents']['value']
    text = PROGRAM.replace('pl.load(x, [0, 0], [1, N])', 'pl.tile.load(x, [0, 0], [1, N], [1, N], target_memory=pl.Mem.Vec)')
    client.change({'text': text})
    found = client.at('hover', place(text, 'target_memory'))['contents']['value']
    assert 'keyword of `tile.load`' in found and 'Vec' in found, found
    equal(client.stop(), 0)


@test
def definition_and_references(pldc):
    client = Client(pldc)
    client.open(PROGRAM)

    def target(mark, **more):
        found = client.at('definition', place(PROGRAM, mark, **more))
        return None if found is None else (found['range']['start']['line'], covered(PROGRAM, found['range']))

    def line(mark):
        return place(PROGRAM, mark)['line']
    equal(target('tile,)'), (line('tile = '), 'tile'))
    equal(target('acc, k'), (line('(acc,)'), 'acc'))
    equal(target('k)\n'), (line('def kernel'), 'k'))
    equal(target('result, ['), (line('result = '), 'result'))
    equal(target('kernel(x, k'), (line('def kernel'), 'kernel'))
    equal(target('N], pl.FP32], k'), (line('N = 64'), 'N'))
    equal(target('pl.load'), None)
    equal(target('return y'), None)
    context = {'context': {'includeDeclaration': True}}

    def places(mark, **more):
        found = client.at('references', place(PROGRAM, mark), **{**context, **more})
        return [(p['range']['start']['line'], covered(PROGRAM, p['range'])) for p in found]
    equal(places('acc, k'), [(line('(acc,)'), 'acc'), (line('muls(acc'), 'acc')])
    equal(places('acc, k', context={'includeDeclaration': False}), [(line('muls(acc'), 'acc')])
    equal(places('result = '), [(line('result = '), 'result'), (line('result, ['), 'result')])
    equal(len(places('N = 64')), 8)
    equal(places('kernel(self'), [(line('def kernel'), 'kernel'), (line('self.kernel'), 'kernel')])
    # x of one function is not that of the other.
    equal({l for l, _ in places('x: pl')}, {line('def kernel'), line('pl.load')})
    kinds = [h['kind'] for h in client.at('documentHighlight', place(PROGRAM, 'acc, k'))]
    equal(kinds, [3, 2])
    # Branches that yield into one name; a buffer named within types.
    text = '''# pypto.program: Two
import pypto.language as pl

@pl.program
class Two:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def k(n: pl.Scalar[pl.INDEX], x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
        mem: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 4096)
        a: pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem, 0, 4096), pl.Mem.Vec] = pl.tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        b: pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem, 0, 4096), pl.Mem.Vec] = pl.tile.add(a, a)
        c: pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem, 0, 4096), pl.Mem.Vec] = pl.tile.add(b, a)
        if n > 1:
            m: pl.Scalar[pl.INDEX] = pl.yield_(n)
        else:
            m: pl.Scalar[pl.INDEX] = pl.yield_(n + 1)
        return pl.tile.store(c, [m, 0], y)
'''
    client.change({'text': text})

    def lines(mark):
        return [p['range']['start']['line'] for p in client.at('references', place(text, mark), **context)]
    equal(lines('m, 0]'), [12, 14, 15])
    equal(lines('mem: '), [7, 8, 9, 10])
    equal(len(client.at('references', place(text, 'pl.tile.add'), **context)), 2)
    equal(client.stop(), 0)


@test
def outline(pldc):
    client = Client(pldc)
    client.open(PROGRAM)
    found = client.request('textDocument/documentSymbol', {'textDocument': {'uri': URI}})
    equal([s['name'] for s in found], ['N', 'ROWS', 'Demo'])
    functions = found[2]['children']
    equal([f['name'] for f in functions], ['kernel', 'main'])
    equal([p['name'] for p in functions[0]['children']], ['x', 'k', 'y'])
    equal(covered(PROGRAM, functions[0]['children'][1]['range']), 'k: pl.Scalar[pl.FP32]')
    assert covered(PROGRAM, functions[0]['range']).startswith('@pl.function(type')
    assert covered(PROGRAM, functions[0]['range']).endswith('[0, 0], y)')
    assert covered(PROGRAM, functions[1]['range']).endswith('return y')

    def inside(symbol):
        for child in symbol.get('children', []):
            for end in ('start', 'end'):
                a, b = child['range'][end], symbol['range'][end]
                key = (a['line'], a['character']), (b['line'], b['character'])
                assert key[0] >= key[1] if end == 'start' else key[0] <= key[1], (child['name'], key)
            inside(child)
    inside(found[2])
    # A body that does not parse is no reason to lose its function.
    client.change({'text': PROGRAM.replace('tile = pl.load(', 'tile = pl.load((((')})
    found = client.request('textDocument/documentSymbol', {'textDocument': {'uri': URI}})
    equal([f['name'] for f in found[2]['children']], ['kernel', 'main'])
    client.change({'text': ''})
    equal(client.request('textDocument/documentSymbol', {'textDocument': {'uri': URI}}), [])
    equal(client.stop(), 0)


@test
def completion(pldc):
    client = Client(pldc)
    client.open(PROGRAM)
    listed = json.loads(subprocess.run([pldc, 'list', 'ops', '--json'], capture_output=True, text=True, check=True).stdout)
    tile = {re.sub('^(and|or|not)$', r'\1_', op['name'][5:]) for op in listed if op['name'].startswith('tile.')}

    def at_end(line):
        return complete(client, PROGRAM.replace('        return y\n', '        ' + line + '\n'))
    equal(set(labels(at_end('z = pl.tile.|'))), tile)
    equal(set(labels(at_end('z = pl.tile.ad|'))), tile)
    found = at_end('z = pl.|')
    for word in ('tile', 'tensor', 'load', 'Tensor', 'FP32', 'FunctionType', 'range', 'yield_', 'builtin'):
        assert word in labels(found), word
    forms = re.search(r'kPrintedForms\[\] = \{(.*?)\};', (ROOT / 'src/frontend/authored.cpp').read_text(), re.S)
    equal(set(re.findall(r'"(\w+)"', forms.group(1))) - set(labels(found)), set())
    load = next(i for i in found['items'] if i['label'] == 'load')
    assert load['detail'].startswith('pl.tile.load(') and load['documentation'], load
    found = labels(at_end('pld.|'))
    for word in ('system', 'tensor', 'notify', 'DistributedTensor', 'NotifyOp'):
        assert word in found, word
    assert 'load' not in found and 'Tile' not in found
    assert 'notify' in labels(at_end('pld.system.|'))
    equal(set(labels(at_end('z = pld.NotifyOp.|'))), {'AtomicAdd', 'Set'})
    equal(labels(at_end('self.|')), ['kernel', 'main'])
    equal(labels(at_end('z = pl.FP32.|')), ['get_byte'])
    equal(labels(at_end('z = nothing.|')), [])
    equal(labels(at_end('z = 3.|')), [])
    equal(labels(at_end('# pl.|')), [])
    equal(labels(at_end('z = "pl.|"')), [])
    found = labels(at_end('z = pl.tile.cast(x, |'))
    assert 'target_type=' in found and 'mode=' in found and 'x' in found, found
    found = labels(at_end('z = pl.tile.cast(x, target_type=pl.FP16, |'))
    assert 'target_type=' not in found and 'mode=' in found, found
    assert "'rint'" in labels(at_end('z = pl.tile.cast(x, mode=|'))
    assert 'pl.FP16' in labels(at_end('z = pl.tile.cast(x, target_type=|'))
    assert 'pl.Mem.Vec' in labels(at_end('z = pl.tile.load(x, [0, 0], [1, 64], target_memory=|'))
    assert 'pld.NotifyOp.Set' in labels(at_end('pld.system.notify(x, peer=0, op=|'))
    assert 'device=' in labels(at_end('self.kernel(x, |'))
    found = labels(at_end('|'))
    for word in ('x', 'k', 'y', 'N', 'ROWS', 'pl', 'pld', 'self', 'for', 'return'):
        assert word in found, word
    assert 'tile' not in found, 'of the other function'
    assert 'pl.FunctionType.InCore' in labels(complete(client, PROGRAM.replace('type=pl.FunctionType.InCore', 'type=|')))
    assert 'level=' in labels(complete(client, PROGRAM.replace('Type.InCore)', 'Type.InCore, |)')))
    assert 'pl.function' in labels(complete(client, PROGRAM.replace('@pl.function(type=pl.FunctionType.InCore)', '@|')))
    # The prefix is what the import says.
    renamed = PROGRAM.replace('as pl\n', 'as tl\n').replace('pl.', 'tl.').replace('return y\n', 'z = tl.tile.|\n')
    equal(set(labels(complete(client, renamed))), tile)
    equal(client.stop(), 0)


@test
def signature_help(pldc):
    client = Client(pldc)
    client.open(PROGRAM)

    def helped(line):
        text = PROGRAM.replace('        return y\n', '        ' + line + '\n')
        client.change({'text': text.replace('|', '')})
        return client.at('signatureHelp', place(text, '|'))

    def active(line):
        found = helped(line)
        one = found['signatures'][0]
        label = one['parameters'][found['activeParameter']]['label']
        return one['label'][label[0]:label[1]]
    equal(active('z = pl.tile.load(|'), 'tensor')
    equal(active('z = pl.tile.load(x, |'), 'offsets')
    equal(active('z = pl.tile.load(x, [0, |'), 'offsets')
    equal(active('z = pl.tile.load(x, [0, 0], |)'), 'shapes')
    equal(active('z = pl.tile.load(x, [0, 0], [1, 64], target_memory=|)'), 'target_memory=')
    equal(active('z = pl.tile.adds(pl.tile.load(x, [0, 0], [1, 64]), |)'), active('z = pl.tile.adds(t, |)'))
    equal(active('self.kernel(x, |'), 'k: pl.Scalar[pl.FP32]')
    assert len(helped('z = pl.add(|')['signatures']) > 1
    equal(helped('z = 3|'), None)
    equal(helped('z = (3 + |'), None)
    equal(helped('z = nothing(|'), None)
    equal(helped('# pl.tile.load(|'), None)
    equal(client.stop(), 0)


@test
def formatting(pldc):
    client = Client(pldc)
    canonical = subprocess.run([pldc, 'fmt', '-'], input=PROGRAM, capture_output=True, text=True, check=True).stdout
    client.open(canonical)
    options = {'textDocument': {'uri': URI}, 'options': {'tabSize': 4, 'insertSpaces': True}}
    equal(client.request('textDocument/formatting', options), [])
    loose = canonical.replace('[0, 0]', '[0,0]').replace('pl.tile.muls(acc, k)', 'pl.tile.muls( acc,k )')
    client.change({'text': loose})
    edits = client.request('textDocument/formatting', options)
    equal(len(edits), 1)
    equal(loose.replace(covered(loose, edits[0]['range']), edits[0]['newText']), canonical)
    equal(client.change({'range': edits[0]['range'], 'text': edits[0]['newText']}), [])
    equal(client.request('textDocument/formatting', options), [])
    # What `pldc fmt -i` refuses: text with errors, and text that would lose what a person wrote.
    for text in (canonical.replace('muls', 'mulls'), PROGRAM):
        client.change({'text': text})
        equal(client.error('textDocument/formatting', options), -32803)
    equal(client.stop(), 0)


@test
def code_actions(pldc):
    client = Client(pldc)
    client.open(PROGRAM)
    everywhere = {'start': {'line': 0, 'character': 0}, 'end': {'line': 999, 'character': 0}}
    for right, wrong in (('pl.load', 'pl.lod'), ('tile.muls', 'tile.mulls'), ('acc, k', 'acd, k'),
                         ('self.kernel', 'self.kernal'), ('Type.InCore', 'Type.InCorr'),
                         ('pl.Scalar[pl.FP32]', 'pl.Scalar[pl.FP3]')):
        text = PROGRAM.replace(right, wrong, 1)
        assert text != PROGRAM, right
        client.change({'text': text})
        actions = client.request('textDocument/codeAction', {'textDocument': {'uri': URI}, 'range': everywhere,
                                                             'context': {'diagnostics': []}})
        assert actions, wrong
        edit = actions[0]['edit']['changes'][URI][0]
        equal(actions[0]['kind'], 'quickfix')
        equal(client.change({'range': edit['range'], 'text': edit['newText']}), [])
    text = PROGRAM.replace('pl.load', 'pl.lod')
    client.change({'text': text})
    ask = {'textDocument': {'uri': URI}, 'range': {'start': place(text, 'N = 64'), 'end': place(text, 'N = 64')},
           'context': {'diagnostics': []}}
    equal(client.request('textDocument/codeAction', ask), [])
    ask.update(range=everywhere, context={'diagnostics': [], 'only': ['refactor']})
    equal(client.request('textDocument/codeAction', ask), [])
    equal(client.stop(), 0)


@test
def semantic_tokens(pldc):
    client = Client(pldc)
    client.open(PROGRAM)
    legend = client.capabilities['capabilities']['semanticTokensProvider']['legend']
    data = client.request('textDocument/semanticTokens/full', {'textDocument': {'uri': URI}})['data']
    line = character = 0
    found = []
    for dl, dc, length, kind, _ in zip(*[iter(data)] * 5):
        line, character = line + dl, dc if dl else character + dc
        found.append((PROGRAM.split('\n')[line][character:character + length], legend['tokenTypes'][kind]))
    for one in (('N', 'enumMember'), ('ROWS', 'variable'), ('load', 'function'), ('muls', 'function'), ('k', 'parameter'),
                ('acc', 'variable'), ('kernel', 'function')):
        assert one in found, (one, found)
    assert all(re.fullmatch(r'\w+', word) for word, _ in found), found
    equal(client.stop(), 0)
