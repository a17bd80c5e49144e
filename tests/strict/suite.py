#!/usr/bin/env python3
"""The strict checker over what `--target=ascend` generates, and over planted violations, all of which it must find.

    suite.py --pldc=build/src/driver/pldc [--corpus=DIR] [--full]

--full (also PLDC_TEST_STAGES=all): every program of the corpus that builds. The last line is `N passed, N failed`.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OWN = ROOT / 'tests/data/strict'  # the programs of the planted violations, which a small corpus may lack
sys.path.insert(0, str(HERE))
from check import RUNTIME, Checker  # noqa: E402
from planted import PLANTED  # noqa: E402

SAMPLE = ('rma_ring_shift tile_matmul softmax_rows mesh_by_hand incore_allreduce_ring host_allreduce_explicit spmd_blocks '
          'submit_deps vec_scale_add tile_elementwise dynamic_rows two_domains').split()


def build(pldc, source, tree):
    done = subprocess.run([pldc, 'build', '--target=ascend', '--emit-only', str(source), '-o', str(tree)], capture_output=True,
                          text=True)
    return done.returncode, done.stderr


class Suite:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.passed = self.failed = self.kernels = self.chips = self.refused = 0
        self.trees = {}

    def expect(self, good, text):
        self.passed += good
        self.failed += not good
        if not good:
            print('FAIL ' + text, flush=True)

    def programs(self):
        names = SAMPLE
        if self.options.full:
            names = sorted(p.parent.name for p in self.options.corpus.glob('*/source.pld'))
        for name in names:
            source = next((p for p in (self.options.corpus / name / 'source.pld', OWN / f'{name}/source.pld') if p.is_file()),
                          pathlib.Path())
            if not source.is_file():
                continue
            tree = self.work / name
            code, errors = build(self.options.pldc, source, tree)
            if code == 1 and self.options.full:
                self.refused += 1
                continue
            if code != 0:
                self.expect(False, f'{name}: exit {code}\n{errors[:2000]}')
                continue
            self.trees[name] = tree
            checker = Checker()
            checker.folder(tree)
            self.kernels += checker.kernels
            self.chips += checker.chips
            self.expect(not checker.findings.messages, f'{name}:\n' + '\n'.join(checker.findings.messages[:20]))

    def runtime(self):
        checker = Checker()
        checker.headers()
        self.expect(not checker.findings.messages, '\n'.join(checker.findings.messages))
        changed = self.work / 'runtime'
        shutil.copytree(RUNTIME, changed)
        for rule, header, old, new in (('abi', 'kernel.h', 'start_offset) == 24', 'start_offset) == 32'),
                                       ('official-include', 'kernel.h', '#include <cstdint>', '//')):
            text = (RUNTIME / header).read_text()
            (changed / header).write_text(text.replace(old, new, 1))
            checker = Checker(changed)
            checker.headers()
            self.expect(old in text and rule in checker.findings.hit, f'planted {rule}: not found')
            (changed / header).write_text(text)

    def planted(self):
        for rule, program, file, pattern, new in PLANTED:
            tree = self.work / 'planted'
            shutil.rmtree(tree, ignore_errors=True)
            shutil.copytree(self.trees[program], tree)
            count = 0
            for path in sorted(tree.glob('kernels/*/*.cpp') if file == '*' else [tree / file]):
                text, n = re.subn(pattern, new, path.read_text())
                path.write_text(text)
                count += n
            checker = Checker()
            checker.folder(tree)
            self.expect(count > 0, f'planted {rule}: {pattern} is not in the text')
            self.expect(rule in checker.findings.hit, f'planted {rule}: not found, but {checker.findings.hit}')
        tree = self.work / 'planted'
        (tree / 'include').mkdir()
        (tree / 'include/x.h').write_text('')
        checker = Checker()
        checker.folder(tree)
        self.expect('tree' in checker.findings.hit, 'planted tree: not found')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--pldc', default=str(ROOT / 'build/src/driver/pldc'))
    whole = ROOT.parent / 'shared/corpus'
    parser.add_argument('--corpus', type=pathlib.Path,
                        default=os.environ.get('PLDC_CORPUS') or (whole if whole.is_dir() else ROOT / 'tests/data/corpus'))
    parser.add_argument('--full', action='store_true', default=os.environ.get('PLDC_TEST_STAGES') == 'all')
    options = parser.parse_args()
    options.corpus = pathlib.Path(options.corpus)
    with tempfile.TemporaryDirectory() as temporary:
        suite = Suite(options, pathlib.Path(temporary))
        suite.programs()
        suite.runtime()
        suite.planted()
    print(f'{suite.kernels} kernels and {suite.chips} orchestrations checked, {suite.refused} programs refused')
    print(f'{suite.passed} passed, {suite.failed} failed')
    return 1 if suite.failed else 0


if __name__ == '__main__':
    sys.exit(main())
