"""What a broken or hostile client sends to `pldc lsp`, and texts of all kinds and sizes."""
import json
import subprocess
import time

from cases import PROGRAM, URI, equal, test
from client import Client, frame, place


@test
def malformed_frames(pldc):
    client = Client(pldc)
    for junk in (b'hello\r\n\r\n', b'Content-Length: x\r\n\r\n', b'Content-Length: -5\r\n\r\n', b'Content-Length:\r\n\r\n',
                 b'Content-Type: a\r\n\r\n', b'Content-Length: 99999999999999999999\r\n\r\n', b'\r\n\r\n',
                 b'A' * 20000 + b'\r\n\r\n'):
        client.send_bytes(junk)
        number = client.post('shutdownn', None)
        message = client.receive()
        equal((junk[:40], message['id'], message['error']['code']), (junk[:40], None, -32700))
        while message['id'] is None:  # one piece of junk may be reported in several pieces
            message = client.receive()
        equal((message['id'], message['error']['code']), (number, -32601))
    # Lines may end in \n alone, headers may come in pieces and in any case, and bodies byte by byte.
    body = json.dumps({'jsonrpc': '2.0', 'id': 'a', 'method': 'nothing'}).encode()
    client.send_bytes(b'content-length: %d\n\n' % len(body) + body)
    equal(client.answer('a')['error']['code'], -32601)
    for byte in b'Content-Type: x\r\nContent-Length: %d\r\n\r\n' % len(body) + body:
        client.send_bytes(bytes([byte]))
    equal(client.answer('a')['error']['code'], -32601)
    # A length that is wrong costs this message, perhaps the next, and no more.
    for length in (len(body) - 3, len(body) + 30):
        client.send_bytes(b'Content-Length: %d\r\n\r\n' % length + body + frame({'id': 1, 'method': 'x'}))
        number = client.post('nothing', None)
        while True:
            message = client.receive()
            if message['id'] == number:
                break
            assert message['id'] is None or message['id'] == 1, message
    # A message that is too large is passed over.
    client.send_bytes(b'Content-Length: 300000000\r\n\r\n')
    for _ in range(30):
        client.send_bytes(b' ' * 10000000)
    equal(client.receive()['error']['code'], -32700)
    equal(client.error('nothing', None), -32601)
    equal(client.stop(), 0)
    client = Client(pldc)
    client.send_bytes(b'Content-Length: 1000\r\n\r\n{"half')
    equal(client.wait(), 1)


@test
def malformed_json(pldc):
    client = Client(pldc)

    def code_of(body):
        client.send_bytes(b'Content-Length: %d\r\n\r\n' % len(body) + body)
        return client.receive()['error']['code']
    for body in (b'', b'{', b'{"a": }', b'nothing', b'{"a": "\xff\xfe"}', b'"\\ud800"', b'[' * 100000, b'{"a":' * 100000,
                 b'1e999', b'{} {}'):
        assert code_of(body) in (-32700, -32600), body[:20]
    for body in (b'[]', b'3', b'null', b'{}', b'{"id": 3}', b'{"id": 3, "method": 4}', b'{"id": {}, "method": "x"}',
                 b'{"id": 1.5, "method": "x"}', b'{"id": null, "method": "x"}', b'{"id": 1, "method": "x", "params": 3}'):
        equal((body, code_of(body)), (body, -32600))
    client.send_bytes(frame({'id': 99, 'result': 3}))  # an answer that nobody asked for
    position = {'line': 0, 'character': 0}
    client.open(PROGRAM)
    for method in ('hover', 'definition', 'references', 'completion', 'signatureHelp', 'documentHighlight', 'codeAction'):
        for params in (None, [], {}, {'textDocument': 3}, {'textDocument': {'uri': 7}}, {'textDocument': {'uri': URI}},
                       {'textDocument': {'uri': URI}, 'position': 3}, {'textDocument': {'uri': URI}, 'position': {}},
                       {'textDocument': {'uri': URI}, 'position': {'line': -1, 'character': 0}},
                       {'textDocument': {'uri': URI}, 'position': {'line': 'a', 'character': 1.5}},
                       {'textDocument': {'uri': URI}, 'range': {'start': position}},
                       {'textDocument': {'uri': 'file:///not/open.pld'}, 'position': position}):
            equal((method, params, client.error('textDocument/' + method, params)), (method, params, -32602))
    for params in (None, {}, {'textDocument': {'uri': URI}}, {'textDocument': {'uri': URI}, 'contentChanges': [3]},
                   {'textDocument': {'uri': URI}, 'contentChanges': [{'text': 3}]},
                   {'textDocument': {'uri': URI}, 'contentChanges': [{'text': '', 'range': 3}]},
                   {'textDocument': {'uri': 'x'}, 'contentChanges': [{'text': ''}]}):
        client.notify('textDocument/didChange', params)
        equal(client.receive()['method'], 'window/logMessage')
    for method in ('textDocument/didOpen', 'textDocument/didClose'):
        client.notify(method, {'textDocument': {}})
        equal(client.receive()['method'], 'window/logMessage')
    client.notify('$/unknown', {})
    client.notify('textDocument/unknown', 3)
    equal(client.receive()['error']['code'], -32600)
    equal(client.error('textDocument/unknown', {}), -32601)
    equal(client.error('$/unknown', {}), -32601)
    assert client.at('hover', place(PROGRAM, 'tile = pl.load')), 'the document is as it was'
    equal(client.stop(), 0)


@test
def order_of_life(pldc):
    client = Client(pldc, start=False)
    equal(client.error('textDocument/hover', {}), -32002)
    equal(client.error('shutdown', None), -32002)
    client.notify('textDocument/didOpen', {'textDocument': {'uri': URI, 'text': 'x'}})  # too early: dropped
    client.request('initialize', {})
    equal(client.error('initialize', {}), -32600)
    equal(client.error('textDocument/hover', {'textDocument': {'uri': URI}, 'position': {'line': 0, 'character': 0}}), -32602)
    client.request('shutdown', None)
    equal(client.error('textDocument/hover', {}), -32600)
    equal(client.error('initialize', {}), -32600)
    client.notify('exit', None)
    equal(client.wait(), 0)
    client = Client(pldc, start=False)
    client.notify('exit', None)
    equal(client.wait(), 1)
    client = Client(pldc)
    client.request('shutdown', None)
    equal(client.wait(), 1)  # it never said exit


@test
def cancelled_requests(pldc):
    client = Client(pldc)
    client.open(PROGRAM)
    ask = {'textDocument': {'uri': URI}, 'position': place(PROGRAM, 'tile = pl.load')}
    batch = b''
    for number in range(100, 110):
        batch += frame({'jsonrpc': '2.0', 'id': number, 'method': 'textDocument/hover', 'params': ask})
    for number in (105, 109, 4242):
        batch += frame({'jsonrpc': '2.0', 'method': '$/cancelRequest', 'params': {'id': number}})
    batch += frame({'jsonrpc': '2.0', 'method': '$/cancelRequest', 'params': 3})
    client.send_bytes(batch)
    for number in range(100, 110):
        message = client.answer(number)  # every request is answered, in order
        if 'error' in message:
            assert number in (105, 109) and message['error']['code'] == -32800, message
        else:
            assert message['result'], message
    equal(client.stop(), 0)


@test
def texts_of_all_kinds(pldc):
    """Nothing in a text is an internal error: each question at many places of texts that are cut, doubled and mangled."""
    client = Client(pldc)
    client.open('')
    canonical = subprocess.run([pldc, 'fmt', '-'], input=PROGRAM, capture_output=True, text=True, check=True).stdout
    texts = ['', '\n', '\0', '(' * 3000, '    ' * 500 + 'x', '@pl.program', 'class', '"""', '\r', '\ufeff' + PROGRAM,
             PROGRAM.replace('\n', '\r'), PROGRAM * 2, 'x = ' * 1000, PROGRAM.replace('[', '(').replace('pl.', 'pl..'),
             '@pl.function\ndef f(x: pl.Scalar[pl.INDEX]):\n    return f(', 'a.b.c.' * 300,
             PROGRAM.replace('N = 64', 'N = N'), PROGRAM.replace('self, ', ''), PROGRAM.replace('class Demo', 'class'),
             PROGRAM.replace('(acc,)', '(acc, acc)'), PROGRAM.replace('k: pl.Scalar[pl.FP32]', 'x: pl.Scalar[pl.FP32]')]
    texts += [PROGRAM[:cut] for cut in range(0, len(PROGRAM), 97)] + [canonical[:cut] for cut in range(0, len(canonical), 211)]
    texts += [PROGRAM[:cut] + PROGRAM[cut + 40:] for cut in range(30, len(PROGRAM), 113)]
    whole = {'start': {'line': 0, 'character': 0}, 'end': {'line': 10 ** 6, 'character': 0}}
    for text in texts:
        client.change({'text': text})
        ends = [{'line': text.count('\n'), 'character': len(text.rsplit('\n', 1)[-1])}]
        ends += [{'line': line, 'character': 13} for line in range(0, text.count('\n'), 5)]
        for position in ends:
            for method in ('hover', 'definition', 'completion', 'signatureHelp', 'documentHighlight'):
                client.at(method, position)
            client.at('references', position, context={})
        for method in ('documentSymbol', 'semanticTokens/full'):
            client.request('textDocument/' + method, {'textDocument': {'uri': URI}})
        client.request('textDocument/codeAction', {'textDocument': {'uri': URI}, 'range': whole, 'context': {}})
        client.answer(client.post('textDocument/formatting', {'textDocument': {'uri': URI}, 'options': {}}))
    equal(client.stop(), 0)
    equal(client.stderr, '')


@test
def large_documents(pldc):
    """A program of a megabyte: an answer after a change is there well under a second; edits do not pile up."""
    client = Client(pldc)
    head, body = PROGRAM.split('        tile = pl.load')
    body = '        tile = pl.load' + body
    lines = ''.join(f'        t{i} = pl.tile.muls(pl.load(x, [0, 0], [1, N]), k)  # line {i}\n' for i in range(14500))
    text = head + lines + body
    assert len(text) > 1000000, len(text)
    equal(client.open(text), [])
    end = place(text, 'result, [')
    where = {'line': place(text, 't7000 = ')['line'], 'character': 8}
    slowest = 0
    for _ in range(3):
        begin = time.monotonic()
        client.notify('textDocument/didChange', {'textDocument': {'uri': URI, 'version': 2}, 'contentChanges': [
            {'range': {'start': where, 'end': where}, 'text': 'z'}]})
        assert client.at('hover', end)
        client.diagnostics(URI)
        slowest = max(slowest, time.monotonic() - begin)
    for method in ('completion', 'definition', 'references', 'signatureHelp'):
        begin = time.monotonic()
        client.at(method, end, context={})
        slowest = max(slowest, time.monotonic() - begin)
    for method in ('documentSymbol', 'semanticTokens/full'):
        begin = time.monotonic()
        client.request('textDocument/' + method, {'textDocument': {'uri': URI}})
        slowest = max(slowest, time.monotonic() - begin)
    # A burst: the texts in between are not all looked at.
    begin = time.monotonic()
    client.send_bytes(b''.join(frame({'jsonrpc': '2.0', 'method': 'textDocument/didChange', 'params': {
        'textDocument': {'uri': URI, 'version': 3 + i}, 'contentChanges': [
            {'range': {'start': where, 'end': where}, 'text': 'y'}]}}) for i in range(200)))
    assert client.at('hover', end)
    burst = time.monotonic() - begin
    print(f'large document: slowest answer {slowest * 1000:.0f} ms, a burst of 200 changes {burst * 1000:.0f} ms')
    assert slowest < 2 and burst < 10, (slowest, burst)  # of a machine that does other things too
    # One line of a megabyte, with characters of two units.
    long = 'x = [' + '"\U0001f680", ' * 100000 + ']\n'
    client.change({'text': long})
    client.at('hover', {'line': 0, 'character': 700000})
    client.at('completion', {'line': 0, 'character': 700001})
    equal(client.stop(), 0)
