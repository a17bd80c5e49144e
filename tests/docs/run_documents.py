#!/usr/bin/env python3
"""Runs every command that the documents show and compares what it prints with what they show.

    run_documents.py [--pldc=build/src/driver/pldc] [--bless] [--full] [-k GLOB] [DOCUMENT...]

A command stands in a fenced block with the info string `console`, behind "$ "; what it prints, on both streams, follows
up to the next command or the end of the block. "> " continues a command. A command that does not end with 0 is
followed by a line such as `[exit 4]`.

    ```console
    $ pldc check samples/tutorial/2_hang.pld --ranks 4
    2_hang.pld:23:13: error: ...
    [exit 1]
    ```

The blocks of a document run one after the other in one shell, in a copy of the tree's samples/, so each sees the files of
those before. The output must be the same to the letter, except where the document says that something is left out:

    [...]     on a line of its own: any number of lines;  within a line: any text up to what follows it

A block ```diff excerpt shows lines of what the last command printed: each must be there, in this order.

A block ```console full runs only with --full (or PLDC_TEST_STAGES=all), which is for what takes long. Manual pages (.scd)
have their commands in blocks of plain ``` fences with the same marks; the examples of `pldc SUBCOMMAND -h` and of pldc(1) are
run, too, on tests/docs/foo.pld, and must end with 0.

--bless writes the outputs of now into the documents, of the commands that differ; [...] of those are lost, and put back by
hand. The last line is `N passed, N failed`.
"""
import argparse
import fnmatch
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = ['README.md', 'docs/tutorial.md', 'docs/HACKING.md', 'samples/reveal/README.md', 'man/pldc.1.scd']
TIMEOUT = 300


class Command:
    """Lines first..last of the document, 0-based: the words behind "$ " and what is shown below them."""

    def __init__(self, text, first, last, output):
        self.text, self.first, self.last, self.output = text, first, last, output


def blocks_of(lines, name):
    """(info string, first, last) of each block that counts here: the lines between its fences."""
    first = info = None
    for number, line in enumerate(lines):
        fence = re.match(r'```(.*)$', line)
        if not fence:
            continue
        if first is None:
            first, info = number + 1, fence.group(1).split()
        else:
            if name.endswith('.scd') and lines[first].startswith('$ '):
                info = ['console']
            if info[:1] == ['console'] or info == ['diff', 'excerpt']:
                yield info, first, number
            first = None


def commands_of(lines, first, last):
    """The commands of a block. What stands before the first one is an error."""
    starts = [n for n in range(first, last) if lines[n].startswith('$ ')]
    if not starts or starts[0] != first:
        raise ValueError(f'line {first + 1}: a console block begins with "$ "')
    for start, end in zip(starts, starts[1:] + [last]):
        words, number = [lines[start][2:]], start + 1
        while number < end and lines[number].startswith('> '):
            words.append(lines[number][2:])
            number += 1
        yield Command('\n'.join(words), number, end, lines[number:end])


def agrees(shown, actual):
    """Whether the lines of a document are those that were printed, [...] standing for what it leaves out."""
    parts = []
    for line in shown:
        if line.strip() == '[...]':
            parts.append(r'(?:[^\n]*\n)*?')
        else:
            parts.append(r'[^\n]*?'.join(re.escape(piece) for piece in line.split('[...]')) + r'\n')
    return re.fullmatch(''.join(parts), ''.join(line + '\n' for line in actual)) is not None


def stray_commands(lines, name):
    """Commands of pldc that stand outside of console blocks, where nothing runs them."""
    inside = {n for _, first, last in blocks_of(lines, name) for n in range(first, last)}
    for number, line in enumerate(lines):
        if number not in inside and re.match(r'(    +|\t|)(\$ |pldc )\S', line) and (line[0] in ' \t$'):
            yield f'{name}:{number + 1}: this command is run by nobody; put it into a ```console block: {line.strip()}'


class Shell:
    """A folder with the samples, where commands are run with pldc in front of the path."""

    def __init__(self, pldc, folder):
        self.folder = folder
        shutil.copytree(ROOT / 'samples', folder / 'samples')
        shutil.copy(ROOT / 'tests/docs/foo.pld', folder / 'foo.pld')
        shutil.copy(ROOT / 'tools/quickstart_data.py', folder / 'quickstart_data.py')
        self.environment = {k: v for k, v in os.environ.items()
                            if not k.startswith(('PLDC_', 'CXX', 'LDFLAGS', 'MAKE')) and k != 'NO_COLOR'}
        self.environment.update(PATH=f'{pldc.parent}:{os.environ["PATH"]}', LC_ALL='C.UTF-8', HOME=str(folder))
        self.environment.setdefault('XDG_CACHE_HOME', str(folder / '.cache'))
        # An input for foo.pld: 4 ranks, 16 numbers each.
        self.run('python3 quickstart_data.py make x.npy')

    def run(self, text):
        """(lines that it printed on both streams, exit code); 124 if it did not end in time."""
        process = subprocess.Popen(['/bin/sh', '-c', text], cwd=self.folder, env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            out, _ = process.communicate(timeout=TIMEOUT)
            code = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, _ = process.communicate()
            code = 124
        return [line.rstrip('\r') for line in out.decode('utf-8', 'replace').splitlines()], code


def run_document(name, options, counts):
    path = ROOT / name
    lines = path.read_text().splitlines()
    for problem in stray_commands(lines, name):
        print(problem)
        counts[1] += 1
    changed = []
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(options.pldc, pathlib.Path(folder))
        actual = []
        for info, first, last in blocks_of(lines, name):
            if 'full' in info and not options.full:
                continue
            if 'excerpt' in info:
                missing = not_in_order(lines[first:last], actual)
                counts[1 if missing else 0] += 1
                if missing:
                    print(f'{name}:{first + 1}: FAILED: the last command does not print this, or not here: {missing}')
                continue
            for command in commands_of(lines, first, last):
                actual, code = shell.run(command.text)
                if code != 0:
                    actual.append(f'[exit {code}]')
                if agrees(command.output, actual):
                    counts[0] += 1
                elif options.bless:
                    changed.append((command, actual))
                else:
                    counts[1] += 1
                    print(f'{name}:{command.first}: FAILED: {command.text}')
                    print('\n'.join(difference(command.output, actual)))
                    print(f'if this is right: tests/docs/run_documents.py --pldc={options.pldc} --bless {name}\n')
    for command, actual in reversed(changed):
        print(f'{name}:{command.first}: blessed: {command.text}')
        lines[command.first:command.last] = actual
    if changed:
        path.write_text('\n'.join(lines) + '\n')


def not_in_order(shown, actual):
    """The first line of an excerpt that does not occur in the output behind the one before; empty if all do."""
    rest = iter(actual)
    return next((line for line in shown if line not in rest), '')


def difference(shown, actual):
    """The lines around the first one that differs."""
    same = 0
    while same < min(len(shown), len(actual)) and agrees([shown[same]], [actual[same]]):
        same += 1
    yield from ('  - ' + line for line in shown[same:same + 8])
    yield from ('  + ' + line for line in actual[same:same + 8])


def help_examples(pldc):
    """The commands under "examples:" of `pldc SUBCOMMAND -h`, and of `pldc -h` itself."""
    def examples(words):
        text = subprocess.run([str(pldc), *words, '-h'], capture_output=True, text=True, check=True).stdout
        block = re.search(r'^examples:\n((?:  .*\n)+)', text, re.M)
        return [line.strip() for line in block.group(1).splitlines()] if block else []
    root = subprocess.run([str(pldc), '-h'], capture_output=True, text=True, check=True).stdout
    yield 'pldc -h', examples([])
    for command in re.findall(r'^  ([a-z]+) {2,}', root, re.M):
        yield f'pldc {command} -h', examples([command])


def run_help(options, counts):
    """Each example ends with 0, if `expected` says nothing else."""
    # Files that the examples name, besides foo.pld; a crash file is one by its own name.
    prepare = ('for name in a b before after handwritten; do cp foo.pld $name.pld; done; '
               'pldc --dump-after=ConvertToSSA foo.pld >dump.pld && cp samples/tutorial/2_hang.pld hang.pld && '
               'sed s/pl.load/pl.lod/ foo.pld >wrong.pld && '
               'mkdir -p ~/.config/fish/completions && '
               'pldc check --crash=check dump.pld 2>/dev/null; mv pldc-crash-*.pld pldc-crash-0123.pld')
    # What the crash file records ends so; nobody says `exit` to the server.
    expected = {'pldc replay': 3, 'pldc lsp': 1}
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(options.pldc, pathlib.Path(folder))
        printed, code = shell.run(prepare)
        if code != 0:
            print('the files of the examples: ' + '\n'.join(printed))
            counts[1] += 1
            return
        for place, examples in help_examples(options.pldc):
            if len(examples) < 3:
                print(f'{place}: {len(examples)} examples, fewer than 3')
                counts[1] += 1
            for text in examples:
                # $fpath is of zsh alone.
                printed, code = shell.run(text.replace('${fpath[1]}', '.'))
                good = code == expected.get(' '.join(text.split()[:2]), 0)
                if not good:
                    print(f'{place}: FAILED: {text}: exit {code}\n' + '\n'.join(printed))
                counts[0 if good else 1] += 1


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--pldc', default='build/src/driver/pldc', type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument('--bless', action='store_true')
    parser.add_argument('--full', action='store_true', default=os.environ.get('PLDC_TEST_STAGES') == 'all')
    parser.add_argument('-k', dest='glob', default='*')
    parser.add_argument('documents', nargs='*')
    options = parser.parse_args()
    counts = [0, 0]
    for name in options.documents or DOCUMENTS:
        if fnmatch.fnmatch(name, options.glob):
            run_document(name, options, counts)
    if not options.documents and fnmatch.fnmatch('help', options.glob):
        run_help(options, counts)
    print(f'{counts[0]} passed, {counts[1]} failed')
    return 1 if counts[1] else 0


if __name__ == '__main__':
    sys.exit(main())
