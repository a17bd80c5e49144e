"""The editors' files at work: vim highlights and indents, the TextMate grammar's patterns match what they should.

Usage: editors.py --pldc=PATH
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = '''# the program
import pypto.language as pl

@pl.program
class Demo:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Out[pl.Tensor[[1, 64], pl.FP32]]) -> pl.Scalar[pl.INDEX]:
        t = pl.tile.load(x, [0, 0], "text", None)
        for i in pl.range(12):
            u = self.kernel(pl.and_(t, t)) if t else 3.5
'''
# What stands in the text (the nth time), the group of vim, the scope of TextMate.
EXPECTED = [
    ('# the', 0, 'pldComment', 'comment.line.number-sign.pld'),
    ('import', 0, 'pldStatement', 'keyword.control.pld'),
    ('@pl.program', 0, 'pldDecorator', 'entity.name.function.decorator.pld'),
    ('Demo', 0, 'pldClass', 'entity.name.class.pld'),
    ('FunctionType', 0, 'pldEnum', 'support.type.enum.pld'),
    ('InCore', 0, 'pldMember', 'constant.other.enum.pld'),
    ('kernel', 0, 'pldFunction', 'entity.name.function.pld'),
    ('kernel', 1, 'pldCall', 'entity.name.function.pld'),
    ('Out', 0, 'pldType', 'support.type.pld'),
    ('Tensor', 0, 'pldType', 'support.type.pld'),
    ('FP32', 0, 'pldDtype', 'storage.type.dtype.pld'),
    ('load', 0, 'pldOp', 'support.function.op.pld'),
    ('and_', 0, 'pldOp', 'support.function.op.pld'),
    ('text', 0, 'pldString', 'string.quoted.double.pld'),
    ('None', 0, 'pldConstant', 'constant.language.pld'),
    ('for', 0, 'pldStatement', 'keyword.control.pld'),
    ('range', 0, 'pldForm', 'keyword.control.form.pld'),
    ('12', 0, 'pldNumber', 'constant.numeric.pld'),
    ('3.5', 0, 'pldNumber', 'constant.numeric.pld'),
    ('x:', 0, '', ''),
    ('t = ', 0, '', ''),
]


def offset_of(mark, nth):
    at = -1
    for _ in range(nth + 1):
        at = PROGRAM.index(mark, at + 1)
    return at


def run_vim(folder, text, commands):
    (folder / 'a.pld').write_text(text)
    (folder / 'script.vim').write_text('\n'.join(
        [f'set runtimepath^={ROOT}/editors/vim', 'set nocompatible', 'filetype plugin indent on', 'syntax on',
         f'edit {folder}/a.pld', *commands, 'quitall!']))
    done = subprocess.run(['vim', '-es', '-u', 'NONE', '-i', 'NONE', '-n', '-S', str(folder / 'script.vim')],
                          capture_output=True, text=True, timeout=60)
    out = folder / 'out'
    assert out.exists(), done.stdout + done.stderr
    return out.read_text().split('\n')


def vim(folder):
    commands = ['let out = [&filetype, &commentstring, &shiftwidth]']
    for mark, nth, _, _ in EXPECTED:
        before = PROGRAM[:offset_of(mark, nth)]
        line, column = before.count('\n') + 1, len(before) - before.rfind('\n')
        commands.append(f"call add(out, synIDattr(synID({line}, {column}, 1), 'name'))")
    commands += ["call map(out, 'string(v:val)')", f"call writefile(out, '{folder}/out')"]
    found = [word.strip("'") for word in run_vim(folder, PROGRAM, commands)]
    assert found[:3] == ['pld', '# %s', '4'], found[:3]
    for (mark, nth, wanted, _), group in zip(EXPECTED, found[3:]):
        assert group == wanted, f'vim: {mark} ({nth}) is {group or "nothing"} instead of {wanted or "nothing"}'
    # Every line indented anew.
    body = PROGRAM + '            break\n        else_ = 3\n        if t:\n            pass\n        else:\n            return t\n'
    flat = '\n'.join(line.strip() for line in body.split('\n'))
    (folder / 'out').unlink()
    made = run_vim(folder, flat, ['normal! gg=G', f"call writefile(getline(1, '$'), '{folder}/out')"])
    wanted = body.rstrip('\n').split('\n')
    # Where a block ends without a word for it, a person tells: the decorator within the class, and nothing else here.
    assert [l for l in made if l] == [l for l in wanted if l], '\n'.join(made)


def scope_at(patterns, text, at):
    """The scope that a grammar of single-line patterns gives to a character."""
    position = 0
    while position <= at:
        best = None
        for pattern in patterns:
            found = re.compile(pattern.get('match', pattern.get('begin'))).search(text, position)
            if found and found.end() > found.start() and (best is None or found.start() < best[0].start()):
                best = found, pattern
        if best is None or best[0].start() > at:
            return ''
        found, pattern = best
        if 'begin' in pattern:
            end = re.compile(pattern['end'], re.M).search(text, found.end()).end()
            if at < end:
                return pattern['name']
            position = end
            continue
        if at < found.end():
            for number, capture in pattern.get('captures', {}).items():
                if found.start(int(number)) <= at < found.end(int(number)):
                    return capture['name']
            return pattern.get('name', '')
        position = found.end()
    return ''


def textmate(_):
    folder = ROOT / 'editors/vscode'
    package = json.loads((folder / 'package.json').read_text())
    for entry in (package['contributes']['languages'][0]['configuration'], package['contributes']['grammars'][0]['path'],
                  package['main']):
        assert (folder / entry).is_file(), entry
    json.loads((folder / 'language-configuration.json').read_text())
    grammar = json.loads((folder / 'syntaxes/pld.tmLanguage.json').read_text())
    assert grammar['scopeName'] == package['contributes']['grammars'][0]['scopeName']
    for mark, nth, _, wanted in EXPECTED:
        at = offset_of(mark, nth)
        line = PROGRAM[PROGRAM.rfind('\n', 0, at) + 1:].split('\n')[0]
        scope = scope_at(grammar['patterns'], line, at - PROGRAM.rfind('\n', 0, at) - 1)
        assert scope == wanted, f'TextMate: {mark} ({nth}) is {scope or "nothing"} instead of {wanted or "nothing"}'


def javascript(_):
    subprocess.run(['node', '--check', str(ROOT / 'editors/vscode/extension.js')], check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--pldc')
    parser.parse_args()
    passed = failed = 0
    for check, program in ((vim, 'vim'), (textmate, 'python3'), (javascript, 'node')):
        if shutil.which(program) is None:
            print(f'{program} is not installed: its files are not tried')
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(pathlib.Path(folder))
                passed += 1
            except (AssertionError, subprocess.SubprocessError) as error:
                failed += 1
                print(f'{check.__name__}: {error}')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
