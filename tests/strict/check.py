#!/usr/bin/env python3
"""Strict checker of what `pldc build --target=ascend` writes: rejects what the official tile library or runtime would reject.

    check.py [--runtime=DIR] TREE...

A TREE is an output directory (with manifest.json) or a folder of single kernels and orchestrations. Each message is
`file:line: what was found; allowed: what is [rule, section of codegen.md]`. Exit code 1 if there are any.
"""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import headers  # noqa: E402
import rules_chip  # noqa: E402
import rules_entry  # noqa: E402
import rules_files  # noqa: E402
import rules_instr  # noqa: E402
import rules_sync  # noqa: E402
import rules_tile  # noqa: E402
from findings import Findings  # noqa: E402
from kernel import Kernel  # noqa: E402
from reader import Unreadable, read  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNTIME = ROOT / 'src/codegen/runtime/include/pld'


class Checker:
    def __init__(self, runtime=RUNTIME):
        self.findings = Findings()
        self.runtime = runtime
        self.kernels = self.chips = 0
        names = headers.official_names(runtime, 'kernel.h', 'scalar.h')
        self.kernel_names = names | rules_entry.OFFICIAL | {n for n in rules_instr.TABLE if n[0].isalpha() and ':' not in n}
        self.chip_names = headers.official_names(runtime, 'orch.h', 'views.h', 'scalar.h')

    def reporter(self, file):
        return lambda line, rule, text: self.findings.report(file, line, rule, text)

    def headers(self):
        headers.check(self.runtime, self.findings.report)

    def read(self, path):
        try:
            return read(path, path.read_text())
        except Unreadable as error:
            self.findings.report(error.file, error.line, 'reads', error.what)
            return None

    def kernel(self, path, entry=None):
        """`entry`: of the manifest."""
        unit = self.read(path)
        if unit is None:
            return None
        self.kernels += 1
        report = self.reporter(path)
        function = rules_entry.check_entry(unit, report)
        if function is None:
            return None
        try:
            return self.kernel_body(path, unit, function, entry, report)
        except Unreadable as error:
            self.findings.report(error.file, error.line, 'reads', error.what)
            return None

    def kernel_body(self, path, unit, function, entry, report):
        made = Kernel(unit, function, report)
        known = self.kernel_names | ({'pld'} if unit.includes == [(unit.includes[0][0], '"pld/collectives.h"')] else set())
        file_level = {'uint64_t'}
        rules_entry.check_names(unit, function, known, report, file_level)
        of = rules_files.signature(entry) if entry else None
        rules_entry.check_arguments(made, of['tensors'] if of else None, of['scalars'] if of else None, report)
        if entry:
            rules_files.check_signature(entry, made, path, self.findings.report)
        rules_tile.check(made, report)
        rules_instr.check(made, entry['core'] if entry else None, report)
        rules_sync.check(made, report)
        return made

    def chip(self, path, kernels=None, args=None):
        unit = self.read(path)
        if unit is None:
            return
        self.chips += 1
        rules_chip.check(unit, self.reporter(path), self.chip_names, kernels, args)

    def tree(self, tree):
        manifest = rules_files.load(tree, self.findings.report)
        if manifest is None:
            return
        rules_files.check_tree(tree, manifest, self.findings.report)
        tables = {}
        for entry in manifest['kernels']:
            path = tree / entry['file']
            if not path.is_file():
                continue  # reported
            made = self.kernel(path, entry)
            of = rules_files.signature(entry)
            waits = made is not None and any(i.name == 'comm::TWAIT' for i in made.instructions)
            table = tables.setdefault(entry['chip'], {})
            if of is not None and table is not None:
                table[entry['id']] = {'core': entry['core'], 'waits': waits, **of}
            else:
                tables[entry['chip']] = None  # of a host collective
        for chip in manifest['chips']:
            path = tree / chip['file']
            if path.is_file():
                self.chip(path, tables.get(chip['name'], {}), chip['args'])

    def loose(self, folder):
        """A folder of hand-written files: an orchestration is named orch*.cpp."""
        for path in sorted(folder.glob('*.cpp')):
            if path.name.startswith('orch'):
                self.chip(path)
            else:
                self.kernel(path)

    def folder(self, folder):
        if (folder / 'manifest.json').is_file() or not any(folder.glob('*.cpp')):
            self.tree(folder)
        else:
            self.loose(folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--runtime', type=pathlib.Path, default=RUNTIME)
    parser.add_argument('trees', nargs='+', type=pathlib.Path)
    options = parser.parse_args()
    checker = Checker(options.runtime)
    checker.headers()
    for tree in options.trees:
        checker.folder(tree)
    for message in checker.findings.messages:
        print(message)
    print(f'{checker.kernels} kernels and {checker.chips} orchestrations, {len(checker.findings.messages)} violations')
    return 1 if checker.findings.messages else 0


if __name__ == '__main__':
    sys.exit(main())
