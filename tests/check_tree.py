"""Checks of the tree itself, each a test case: lists of sources, sizes of files, directions of includes, manual pages.

Usage: check_tree.py ROOT PLDC
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1])
PLDC = sys.argv[2]
LAYERS = ['support', 'ir', 'frontend', 'passes', 'codegen', 'driver']
RUNTIME = ROOT / 'src/codegen/runtime'


def sources():
    """All C++ files that are ours."""
    for folder in ('src', 'tests', 'samples'):
        for path in sorted((ROOT / folder).rglob('*')):
            if path.suffix in ('.cpp', '.h') and 'data' not in path.relative_to(ROOT).parts:
                yield path


def every_source_is_listed():
    result = subprocess.run([sys.executable, str(ROOT / 'tools/relist'), '--check'], capture_output=True, text=True)
    return result.stdout.splitlines() if result.returncode else []


def files_are_short():
    for path in sources():
        count = path.read_text().count('\n')
        if count > 600:
            yield f'{path.relative_to(ROOT)}: {count} lines, more than 600'


def includes_point_one_way():
    """A folder includes itself and the folders before it only."""
    for path in sources():
        parts = path.relative_to(ROOT).parts
        if parts[0] != 'src' or path.is_relative_to(RUNTIME) or parts[1] not in LAYERS:
            continue
        for name in re.findall(r'^#include "(\w+)/', path.read_text(), re.M):
            if name in LAYERS and LAYERS.index(name) > LAYERS.index(parts[1]):
                yield f'{path.relative_to(ROOT)} includes {name}/'


def third_party_headers_stay_in_their_place():
    """Each library is seen by few files, so that it can be replaced."""
    homes = {'re2/': ('src/support/pattern.cpp',), 'spdlog/': ('src/driver/session.h', 'src/driver/session.cpp')}
    for path in sources():
        name = path.relative_to(ROOT).as_posix()
        for prefix, allowed in homes.items():
            if f'#include <{prefix}' in path.read_text() and name not in allowed:
                yield f'{name} includes <{prefix}...>'


def tests_work_with_either_catch():
    """Catch2 is included by tests/support/catch.h, which knows its two generations."""
    for path in sorted((ROOT / 'tests').rglob('*.[ch]*')):
        if path.parent.name != 'support' and '#include <catch2/' in path.read_text():
            yield f'{path.relative_to(ROOT)} includes <catch2/...>: include "support/catch.h"'


def no_build_time_facts_in_sources():
    for path in sources():
        for word in ('__DATE__', '__TIME__'):
            if word in path.read_text():
                yield f'{path.relative_to(ROOT)}: {word} makes builds differ'


def help_and_manual_agree():
    """Every long option of a subcommand stands in pldc(1), and the other way round."""
    manual = set(re.findall(r'(?<![\w-])\*?(--[a-z][a-z-]+)', (ROOT / 'man/pldc.1.scd').read_text()))
    helped = set()
    for command in commands():
        helped |= set(re.findall(r'(--[a-z][a-z-]+)', help_of(command)))
    yield from (f'pldc(1) lacks {name}' for name in sorted(helped - manual))
    yield from (f'pldc(1) has {name}, no help text does' for name in sorted(manual - helped))


def language_manual_agrees():
    """pld(5): its programs are canonical, its grammar is closed, and it has all names of the tables, no others."""
    page = (ROOT / 'man/pld.5.scd').read_text()
    blocks = re.findall(r'^```\n(.*?)^```$', page, re.M | re.S)
    for text in (b for b in blocks if b.startswith('# pypto.program:')):
        done = subprocess.run([PLDC, 'roundtrip', '-'], input=text.rstrip('\n'), capture_output=True, text=True)
        if done.returncode != 0:
            yield f'pld(5): {text.splitlines()[0]}: {done.stderr or done.stdout}'

    grammar = next(b for b in blocks if b.startswith('file '))
    rules = dict(re.findall(r'^(\w+) += (.*?) ;$', grammar, re.M | re.S))
    used = {name for body in rules.values() for name in re.findall(r'[A-Za-z_]+', re.sub(r'"[^"]*"', ' ', body))}
    tokens = {'NAME', 'STRING', 'INT', 'NUMBER', 'INDENT', 'DEDENT'}
    yield from (f'pld(5): the grammar does not define {name}' for name in sorted(used - set(rules) - tokens))
    yield from (f'pld(5): nothing in the grammar uses {name}' for name in sorted(set(rules) - used - {'file'}))

    listed = subprocess.run([PLDC, 'list', 'ops', '--json'], capture_output=True, text=True, check=True).stdout
    ops = {('' if op['name'].startswith('pld.') else 'pl.') + op['name'] for op in json.loads(listed)}
    shown = set()
    category = ''
    for line in next(b for b in blocks if b.startswith('pl.array.')).splitlines():
        if line.startswith(' '):
            shown |= {category + re.sub(r'^(and|or|not)_$', r'\1', name) for name in line.split()}
        else:
            category = line
    yield from (f'pld(5) lacks the op {name}' for name in sorted(ops - shown))
    yield from (f'pld(5) has {name}, which is no op' for name in sorted(shown - ops))

    words = set(re.findall(r'\w+', page.replace('\\_', '_')))
    enums = (ROOT / 'src/ir/enums.h').read_text()
    unprinted = {'DIALECTS', 'PRINT_STYLES', 'PARAM_DIRECTIONS'}
    for table, members in re.findall(r'#define PLDC_(\w+)\(X\)((?:.*\\\n)*.*)', enums):
        spelled = re.findall(r'X\((\w+)(?:, (?:"(\w+)"|\d+))\)', members)
        yield from (f'pld(5) lacks {text or name} of {table}' for name, text in spelled
                    if table not in unprinted and (text or name) not in words)
    forms = re.search(r'kPrintedForms\[\] = \{(.*?)\};', (ROOT / 'src/frontend/authored.cpp').read_text(), re.S)
    yield from (f'pld(5) lacks the form pl.{form}' for form in re.findall(r'"(\w+)"', forms.group(1)) if form not in words)


def commands():
    text = subprocess.run([PLDC, '-h'], capture_output=True, text=True, check=True).stdout
    return re.findall(r'^  ([a-z]+) {2,}', text, re.M)


def help_of(command):
    return subprocess.run([PLDC, command, '--help'], capture_output=True, text=True, check=True).stdout


def contract_options_exist():
    """The options that outside scripts rely on."""
    wanted = {
        'opt': '--passes --stop-after --start-after --disable-pass --pass-option --dump-after --dump-before --dump-all '
               '--dump-changed --dump-dir --dump-func --diff --verify-each --no-verify --strict-signals --timing --stats -o',
        'roundtrip': '--semantic --each',
        'build': '-o --target --emit-only --emit --entry --cxx --cxxflags -j -MD -MF -MT --list-outputs -g --passes '
                 '--stop-after',
        'run': '--ranks --target --build-dir --in --scalar --entry --random --out --expect --rtol --atol --repeat '
               '--schedule --seed --schedules --check --timeout --trace --after',
        'check': '--roundtrip --ranks',
        'fmt': '-i --check',
        'list': '--json',
    }
    common = '--dialect --style --diag-format --color --max-errors -W -v --version -h --help --print-options'
    for command, names in wanted.items():
        text = help_of(command)
        for name in names.split() + common.split():
            if not re.search(r'(?<![\w-])' + re.escape(name) + r'(?![\w-])', text):
                yield f'pldc {command} has no {name}'


def data_is_ours():
    """No path of a machine and no time stamp in what is committed."""
    for path in sorted((ROOT / 'tests/data').rglob('*.err')):
        if re.search(r'(?<![\w%])/(home|root|tmp|work|usr)/', path.read_text()):
            yield f'{path.relative_to(ROOT)} names a path of a machine'


def documents_are_made():
    """What tools/docs makes from the tables is what is committed."""
    result = subprocess.run([sys.executable, str(ROOT / 'tools/docs'), '--check', f'--pldc={PLDC}'], capture_output=True,
                            text=True)
    yield from (result.stdout + result.stderr).splitlines() if result.returncode else []


def main():
    passed = failed = 0
    for check in (every_source_is_listed, files_are_short, includes_point_one_way,
                  third_party_headers_stay_in_their_place, tests_work_with_either_catch, no_build_time_facts_in_sources,
                  help_and_manual_agree, language_manual_agrees, contract_options_exist, data_is_ours,
                  documents_are_made):
        findings = list(check())
        for finding in findings:
            print(f'{check.__name__}: {finding}')
        passed += not findings
        failed += bool(findings)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
