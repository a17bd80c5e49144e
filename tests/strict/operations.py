#!/usr/bin/env python3
"""The strict checker over the kernels and orchestrations of the tests of operations (tests/e2e/ops.py) and over random
kernels (tests/e2e/random_programs.py): each that `--target=ascend` accepts must be clean, and each that it refuses must be
so by name.

    operations.py --pldc=build/src/driver/pldc [--full] [--random=N] [--work=DIR] [-v]

Without --full (or PLDC_TEST_STAGES=all): the examples, the small grid and some random kernels. The last line is
`N passed, N failed`.
"""
import argparse
import bisect
import os
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]
import ops  # noqa: E402
from check import Checker  # noqa: E402
from op_batch import Batch  # noqa: E402
from random_build import run_batches  # noqa: E402
from random_programs import Tester, program_text  # noqa: E402


class Checked(Batch):
    """Programs for the official toolchain, which are read instead of compiled."""

    TARGET = "ascend"

    def __init__(self, pldc, work):
        super().__init__(pldc, work)
        self.kernels = self.chips = 0

    def run(self, name, cases):
        """In parts: an orchestration takes 256 tensors."""
        for i in range(0, len(cases), 60):
            super().run(f"{name}_{i}", cases[i:i + 60])

    def use(self, name, tree, kernels, left):
        checker = Checker()
        checker.folder(tree)
        self.kernels += checker.kernels
        self.chips += checker.chips
        found = checker.findings.messages
        for case in left:  # a finding is of the whole program
            case.outcome = f"failed: {name}" if found else "passed"
        if found:
            print(f"{name}:\n" + "\n".join(found[:40]))


class CheckedRandom(Tester):
    """Random kernels, likewise. Nothing is compiled, so nothing is run after passes either."""

    def __init__(self, options, work):
        super().__init__(options, work)
        self.kernels = self.chips = self.refused_kernels = 0

    def examine(self, batch):
        folder = self.work / f"random{batch.seed}"
        folder.mkdir()
        pieces = list(batch.pieces)
        while pieces:
            text, _ = program_text(pieces)
            (folder / "random.pld").write_text(text)
            done = Batch.call([self.options.pldc, "build", "--target=ascend", "--emit-only", str(folder / "random.pld"), "-o",
                               str(folder / "tree")])
            if done.returncode == 0:
                break
            starts = [n for n, line in enumerate(text.splitlines(), 1) if re.match(r"    def k\d+\(", line)]
            lines = [int(n) for n in re.findall(r":(\d+):\d+: error: .*\[PLD07\d\d\]", done.stdout)]
            bad = {bisect.bisect_right(starts, line) - 1 for line in lines}
            if not bad:
                self.report(batch, pieces[0], done.stdout[:3000])
                return False
            self.refused_kernels += len(bad)
            self.passed += len(bad)
            pieces = [p for i, p in enumerate(pieces) if i not in bad]
        if not pieces:
            return False
        checker = Checker()
        checker.folder(folder / "tree")
        self.kernels += checker.kernels
        self.chips += checker.chips
        if checker.findings.messages:
            self.report(batch, pieces[0], "\n".join(checker.findings.messages[:40]))
        else:
            self.passed += len(pieces)
        return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pldc", default=str(ROOT / "build/src/driver/pldc"))
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--full", action="store_true", default=os.environ.get("PLDC_TEST_STAGES") == "all")
    parser.add_argument("--random", type=int, help="random kernels", metavar="N")
    parser.add_argument("-v", action="store_true", help="names the cases that are refused")
    options = parser.parse_args()
    # Of random kernels.
    options.length, options.cxx, options.failures, options.batch, options.seed = 24, "c++", 10, 100, 1
    options.programs = options.random if options.random is not None else 2000 if options.full else 100
    cases, _ = ops.example_cases()
    grid = ops.grid_cases(options.full)
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or pathlib.Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        batch = Checked(options.pldc, work)
        ops.run_all(batch, cases, grid)
        tester = CheckedRandom(options, work)
        run_batches(tester)
    passed, failed, refused = tester.passed, tester.failed, tester.refused_kernels
    for case in cases + grid:
        why = re.search(r"\[PLD\d+\]|PLD\d+", case.outcome)
        if case.outcome == "passed":
            passed += 1
        elif case.outcome.startswith("refused") and why:
            refused += 1
            passed += 1
            if options.v:
                print(f"{case.name}: {case.outcome}")
        else:
            failed += 1
            print(f"FAIL {case.name}: {case.outcome}")
    print(f"{batch.kernels + tester.kernels} kernels and {batch.chips + tester.chips} orchestrations checked, {refused} cases refused by name")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
