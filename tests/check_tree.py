"""Checks of the tree itself, each a test case: lists of sources, sizes of files, directions of includes, manual pages.

Usage: check_tree.py ROOT PLDC
"""
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


def main():
    passed = failed = 0
    for check in (every_source_is_listed, files_are_short, includes_point_one_way,
                  third_party_headers_stay_in_their_place, no_build_time_facts_in_sources, help_and_manual_agree,
                  contract_options_exist, data_is_ours):
        findings = list(check())
        for finding in findings:
            print(f'{check.__name__}: {finding}')
        passed += not findings
        failed += bool(findings)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
