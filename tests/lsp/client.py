"""A client of `pldc lsp`: starts it, sends messages whole or in pieces, and waits for answers."""
import json
import os
import select
import subprocess
import time

LIMIT = 20  # seconds until an answer is given up


class Closed(Exception):
    """The server has ended."""


class Client:
    def __init__(self, pldc, *args, start=True):
        self.process = subprocess.Popen([pldc, 'lsp', *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.received = b''
        self.next_id = 1
        self.notices = []  # that came while an answer was waited for
        if start:
            self.capabilities = self.request('initialize', {'processId': None, 'rootUri': None, 'capabilities': {}})
            self.notify('initialized', {})

    def send_bytes(self, data):
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError as error:
            raise Closed from error

    def send(self, message):
        self.send_bytes(frame(message))

    def notify(self, method, params):
        self.send({'jsonrpc': '2.0', 'method': method, 'params': params})

    def post(self, method, params):
        """A request whose answer is fetched later; its id."""
        number = self.next_id
        self.next_id += 1
        self.send({'jsonrpc': '2.0', 'id': number, 'method': method, 'params': params})
        return number

    def answer(self, number):
        while True:
            message = self.receive()
            if 'method' in message:
                self.notices.append(message)
            elif message.get('id') == number:
                return message
            else:
                raise AssertionError(f'an answer to {message.get("id")} instead of {number}: {message}')

    def request(self, method, params):
        message = self.answer(self.post(method, params))
        assert 'error' not in message, message
        return message['result']

    def error(self, method, params):
        """The code of the error that the request ends with."""
        return self.answer(self.post(method, params))['error']['code']

    def receive(self, limit=LIMIT):
        end = time.monotonic() + limit
        while True:
            head, separator, rest = self.received.partition(b'\r\n\r\n')
            if separator:
                length = int(head.split(b':')[1])
                if len(rest) >= length:
                    self.received = rest[length:]
                    return json.loads(rest[:length])
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            assert ready, 'no answer'
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            if not data:
                raise Closed
            self.received += data

    def diagnostics(self, uri):
        """The next diagnostics of a document."""
        while True:
            for i, notice in enumerate(self.notices):
                if notice['method'] == 'textDocument/publishDiagnostics' and notice['params']['uri'] == uri:
                    del self.notices[i]
                    return notice['params']['diagnostics']
            self.notices.append(self.receive())

    def open(self, text, uri='file:///tmp/a.pld', version=1):
        self.notify('textDocument/didOpen',
                    {'textDocument': {'uri': uri, 'languageId': 'pld', 'version': version, 'text': text}})
        return self.diagnostics(uri)

    def change(self, *changes, uri='file:///tmp/a.pld', version=2):
        self.notify('textDocument/didChange',
                    {'textDocument': {'uri': uri, 'version': version}, 'contentChanges': list(changes)})
        return self.diagnostics(uri)

    def at(self, method, position, uri='file:///tmp/a.pld', **more):
        return self.request('textDocument/' + method, {'textDocument': {'uri': uri}, 'position': position, **more})

    def wait(self):
        """Its exit code, after its input was closed."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        code = self.process.wait(LIMIT)
        self.stderr = self.process.stderr.read().decode()
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def stop(self):
        self.request('shutdown', None)
        self.notify('exit', None)
        return self.wait()


def frame(message):
    body = json.dumps(message).encode()
    return b'Content-Length: %d\r\n\r\n' % len(body) + body


def place(text, mark, behind=False, nth=0):
    """Position of the nth occurrence of `mark`, or of what follows it, in UTF-16 units."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(mark, at + 1)
    before = text[:at + (len(mark) if behind else 0)]
    line = before.count('\n')
    return {'line': line, 'character': len(before[before.rfind('\n') + 1:].encode('utf-16-le')) // 2}


def covered(text, span):
    """The text that a range covers."""
    lines = text.split('\n')

    def offset(position):
        line = lines[position['line']].encode('utf-16-le')[:2 * position['character']].decode('utf-16-le')
        return sum(len(l) + 1 for l in lines[:position['line']]) + len(line)
    return text[offset(span['start']):offset(span['end'])]
