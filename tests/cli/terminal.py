#!/usr/bin/env python3
"""What pldc shows on a terminal only: colours, and what it is doing once that takes longer than a second.

    terminal.py --pldc=build/src/driver/pldc

Each command runs on a pseudoterminal and, for comparison, with pipes. The last line is `N passed, N failed`.
"""
import argparse
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 60  # seconds until a program counts as hanging


class OnTerminal:
    """A program whose standard error, and the rest too, is a terminal; `text` is what it has written so far."""

    def __init__(self, words, folder, environment):
        self.text = ''
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execve(words[0], words, environment)

    def read_until(self, pattern):
        """Reads up to where the pattern occurs, or to the end for None; whether it did."""
        end = time.monotonic() + PATIENCE
        while pattern is None or not re.search(pattern, self.text):
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            if not ready:
                os.kill(self.pid, signal.SIGKILL)
                return False
            try:
                part = os.read(self.terminal, 65536)
            except OSError:  # the other end is closed
                part = b''
            if not part:
                return pattern is None
            self.text += part.decode('utf-8', 'replace')
        return True

    def interrupt(self):
        os.write(self.terminal, b'\x03')

    def finish(self):
        self.read_until(None)
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class Suite:
    def __init__(self, pldc, folder):
        self.pldc, self.folder, self.passed, self.failed = str(pldc), folder, 0, 0
        self.environment = {k: v for k, v in os.environ.items() if k not in ('NO_COLOR', 'PLDC_FLAGS', 'PLDC_VERIFY')}
        self.environment['TERM'] = 'xterm'

    def start(self, words, **more):
        return OnTerminal([self.pldc, *words], self.folder, {**self.environment, **more})

    def piped(self, words):
        done = subprocess.run([self.pldc, *words], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=PATIENCE, check=False)
        return done.stdout.decode() + done.stderr.decode()

    def check(self, name, good, text=''):
        if not good:
            print(f'{name}: FAILED: {text!r}')
        self.passed += bool(good)
        self.failed += not good


def colours(suite):
    def shown(words, **more):
        program = suite.start(words, **more)
        code = program.finish()
        suite.check(f'{words} {more}: exit code', code == 1, code)
        return program.text

    check = ['check', 'wrong.pld']
    for words, more, coloured in ((check, {}, True), (check, {'NO_COLOR': '1'}, False), (check, {'NO_COLOR': ''}, True),
                                  ([*check, '--color=never'], {}, False),
                                  ([*check, '--color=always'], {'NO_COLOR': '1'}, True),
                                  ([*check, '--diag-format=json'], {}, False)):
        text = shown(words, **more)
        suite.check(f'colours: {words} {more}', ('\x1b[' in text) == coloured and 'PLD0401' in text, text)
    suite.check('colours: a pipe', '\x1b[' not in suite.piped(check))


def progress(suite):
    # Each test takes its time but no processor. What is found is written over the line, which Ctrl-C does not spoil.
    words = ['reduce', '--test=sleep 0.3; grep -q lod {}', 'wrong.pld', '-o', 'small.pld']
    program = suite.start(words)
    line = r'\r\x1b\[K\d s: \d+ lines after \d+ tests'
    suite.check('progress: shown', program.read_until(line), program.text)
    program.interrupt()
    code = program.finish()
    suite.check('progress: interrupted', code == 0 and 'interrupted, so less may do' in program.text, program.text)
    suite.check('progress: goes away', re.search(r'tests(\^C)?\r\x1b\[K(\^C)?\d+ of \d+ lines', program.text), program.text)
    suite.check('progress: the result', 'lod' in (suite.folder / 'small.pld').read_text())
    # What is done at once says nothing, and neither does a machine's format.
    quick = suite.start(['opt', 'good.pld', '-o', 'out.pld'])
    suite.check('progress: quick', quick.finish() == 0 and quick.text == '', quick.text)
    slow = ['reduce', '--test=sleep 1.3; grep -q nothing_at_all {}', 'good.pld']
    for words in (slow, [*slow, '--diag-format=json']):
        program = suite.start(words)
        suite.check(f'progress: {words}: exit code', program.finish() == 1)
        suite.check(f'progress: {words}', ('1 s: ' in program.text) == (words is slow), program.text)
    suite.check('progress: a pipe', '1 s: ' not in suite.piped(slow))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--pldc', default=ROOT / 'build/src/driver/pldc', type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        good = (ROOT / 'samples/scale_add.pld').read_text()
        (folder / 'good.pld').write_text(good)
        (folder / 'wrong.pld').write_text(good.replace('pl.load', 'pl.lod'))
        suite = Suite(options.pldc.resolve(), folder)
        colours(suite)
        progress(suite)
    print(f'{suite.passed} passed, {suite.failed} failed')
    sys.exit(suite.failed != 0)


main()
