#!/usr/bin/env python3
"""Random programs against numpy: kernels made by random_kernel.py, many in one program, built and run by pldc; those whose
C++ is another one after some of the passes only are built and run again there.

    random_programs.py --pldc=build/src/driver/pldc [--programs=N] [--batch=N] [--seed=N] [--stops=N] [--opt=-O0]
                       [--cxx=clang++-14] [--keep=DIR] [--counts]

A failure prints the seed, the smallest piece of the kernel that still differs, and the element. The last line is
`N passed, N failed`; a program is one kernel.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from random_build import Builder, Failure, run_batches  # noqa: E402
from random_kernel import COLS, INPUTS, ROWS, Kernel, Scalar, TensorKernel, inputs, storable  # noqa: E402
from random_table import Table  # noqa: E402
from random_values import from_file, to_file  # noqa: E402

SHAPES = 6  # that the kernels of a batch have


class Piece:
    """What one kernel function of the program computes and stores: a value of a Kernel with what it needs."""

    def __init__(self, kernel, name):
        self.kernel, self.name, self.value = kernel, name, kernel.tiles[name]
        self.statements = kernel.needed(name)
        self.seed = kernel.index

    def text(self, index, rows):
        ins = ", ".join(f"{k.lower()}: pl.Tensor[[{ROWS}, {COLS}], pl.{k}]" for k in INPUTS)
        kind = self.value.kind
        out = f"y: pl.Out[pl.Tensor[[{rows}, {COLS}], pl.{kind}]]"
        lines = ["    @pl.function(type=pl.FunctionType.InCore)",
                 f"    def k{index}(self, {ins}, n: pl.Scalar[pl.INT32], m: pl.Scalar[pl.INT32], f: pl.Scalar[pl.FP32], "
                 f"{out}) -> pl.Tensor[[{rows}, {COLS}], pl.{kind}]:"]
        for s in self.statements:
            lines += ["        " + line for line in s.lines]
        lines += ["        " + line for line in self.kernel.last(self.name, index * ROWS)]
        return "\n".join(lines) + "\n"


def program_text(pieces):
    rows = len(pieces) * ROWS
    kinds = sorted({p.value.kind for p in pieces})
    ins = ", ".join(f"{k.lower()}: pl.Tensor[[{ROWS}, {COLS}], pl.{k}]" for k in INPUTS)
    outs = ", ".join(f"o_{k.lower()}: pl.Out[pl.Tensor[[{rows}, {COLS}], pl.{k}]]" for k in kinds)
    text = ["import pypto.language as pl\n\n\n@pl.program\nclass Random:\n"]
    text += [p.text(i, rows) + "\n" for i, p in enumerate(pieces)]
    text.append("    @pl.function(type=pl.FunctionType.Orchestration)\n"
                f"    def all(self, {ins}, n: pl.Scalar[pl.INT32], m: pl.Scalar[pl.INT32], f: pl.Scalar[pl.FP32], {outs}):\n")
    passed = ", ".join(k.lower() for k in INPUTS)
    for i, p in enumerate(pieces):
        kind = p.value.kind.lower()
        text.append(f"        o_{kind} = self.k{i}({passed}, n, m, f, o_{kind})\n")
    return "".join(text), kinds


def run(builder, folder, pieces, given, scalars, passes=()):
    """The outputs by dtype; Failure with the text of what went wrong."""
    folder.mkdir(parents=True)
    text, kinds = program_text(pieces)
    (folder / "random.pld").write_text(text)
    binary = builder.compile(folder / "random.pld", folder / "tree", passes)
    command = [binary, "--timeout=120", "--check=bounds"]
    for kind, array in given.items():
        np.save(folder / f"{kind}.npy", to_file(kind, array))
        command.append(f"--in={kind.lower()}={folder}/{kind}.npy")
    command += [f"--scalar={name}={s.value}" for name, s in scalars.items()]
    command += [f"--out=o_{kind.lower()}={folder}/o_{kind}.npy" for kind in kinds]
    builder.call(command)
    return {kind: from_file(kind, np.load(folder / f"o_{kind}.npy")) for kind in kinds}


def difference(piece, index, outputs):
    """What is wrong with the part of the outputs that the piece has written, or nothing."""
    value = piece.value
    part = outputs[value.kind][index * ROWS:(index + 1) * ROWS]
    rows, cols = value.valid
    got, error = part[:rows, :cols], value.error_box()
    far = np.abs(got.astype(np.float64) - value.box().astype(np.float64))
    wrong = np.where(error == 0, got != value.box(), ~(far <= error))
    outside = part.copy()
    outside[:rows, :cols] = 0
    if wrong.any():
        r, c = np.argwhere(wrong)[0]
        return (f"{piece.name}[{r}, {c}] is {part[r, c]}, should be {value.data[r, c]}"
                f" (+- {value.error[r, c]:g}); {int(wrong.sum())} of {wrong.size} differ")
    if outside.any():
        r, c = np.argwhere(outside)[0]
        return f"{piece.name}: [{r}, {c}] is outside of the valid {value.valid}, but was written: {part[r, c]}"
    return None


class Batch:
    """Kernels of one seed with their inputs, and how they are built: with the whole pipeline or some passes only."""

    def __init__(self, seed, pieces, given, scalars, passes=()):
        self.seed, self.pieces, self.given, self.scalars, self.passes = seed, pieces, given, scalars, passes

    def of(self, pieces, passes=None):
        return Batch(self.seed, pieces, self.given, self.scalars, self.passes if passes is None else passes)


def steps(piece):
    """The values on the way, each as a program of its own."""
    tiles = piece.kernel.tiles
    return [Piece(piece.kernel, s.name) for s in piece.statements if s.name in tiles and storable(tiles[s.name])]


class Tester:
    def __init__(self, options, work):
        self.options, self.builder, self.table = options, Builder(options, work), Table(options.pldc)
        self.work, self.runs = work, 0
        self.passed, self.failed, self.again = 0, 0, 0
        self.made = {}

    def run(self, pieces, batch):
        self.runs += 1
        self.folder = self.work / f"run{self.runs}"
        return run(self.builder, self.folder, pieces, batch.given, batch.scalars, batch.passes)

    def table_problems(self):
        """Every operation of the table is made by some kind of random program, or is left out with a reason."""
        import random_hosts  # noqa: F401  (it imports this module)
        for problem in self.table.problems():
            self.failed += 1
            print(f"FAIL {problem}")
        self.passed += len(self.table.spelled) - self.failed

    def batch(self, seed, size):
        self.builder.begin(seed)
        rng = np.random.default_rng(seed)
        given = inputs(rng)
        scalars = {"n": Scalar("INT32", int(rng.integers(0, 9))), "m": Scalar("INT32", int(rng.integers(-3, 6))),
                   "f": Scalar("FP32", float(rng.integers(-8, 9)) / 4)}
        # Kernels share shapes, so that they share what a C++ compiler makes for them.
        shapes = [(int(rng.integers(1, 20)), int(rng.choice([5, 8, 16, 17, 24, 32, 32]))) for _ in range(SHAPES)]
        kernels = []
        for i in range(size):
            # Index is part of the seed: a kernel is the same in a smaller batch.
            made = Kernel if i % 3 != 2 else TensorKernel
            kernel = made(np.random.default_rng([seed, i]), i, given, scalars, self.table,
                          shapes[i % SHAPES])
            kernel.grow(4 + (7 * i + seed) % (self.options.length - 4))
            kernels.append(kernel)
        whole = Batch(seed, [Piece(k, k.result()) for k in kernels], given, scalars)
        for piece in whole.pieces:
            for s in piece.statements:
                self.made[s.op] = self.made.get(s.op, 0) + 1
        if self.examine(whole):
            self.stages(whole, rng)

    def stages(self, whole, rng):
        """The kernels whose C++ is another one when only the first passes have run, once more."""
        source, tree = self.folder / "random.pld", self.folder / "tree"
        seen = [{self.kernel(tree, i)} for i in range(len(whole.pieces))]
        names = [n for n in self.options.stages]
        chosen = [["--passes=NONE"]] + [[f"--stop-after={n}"] for n in rng.permutation(names)]
        for number, passes in enumerate(chosen[:self.options.stops]):
            other = self.folder / f"stage{number}"
            try:
                self.builder.emit(source, other, passes)
            except Failure as failure:
                self.report(whole, whole.pieces[0], f"{passes}: {failure}")
                continue
            changed = []
            for i, piece in enumerate(whole.pieces):
                text = self.kernel(other, i)
                if text not in seen[i]:
                    seen[i].add(text)
                    changed.append(piece)
            if changed:
                self.again += len(changed)
                self.examine(whole.of(changed, passes))

    @staticmethod
    def kernel(tree, index):
        path = tree / "kernels" / "all" / f"k{index}.cpp"
        return path.read_text() if path.exists() else ""

    def examine(self, batch):
        """Builds, runs and compares; whether it could be built and run."""
        try:
            outputs = self.run(batch.pieces, batch)
        except Failure as failure:
            self.narrow(batch, str(failure))
            return False
        for i, piece in enumerate(batch.pieces):
            problem = difference(piece, i, outputs)
            if problem is None:
                self.passed += 1
            else:
                self.report(batch, piece, self.reduced(batch, piece, problem))
        return True

    def report(self, batch, piece, text):
        self.failed += 1
        print(f"FAIL --seed={batch.seed} --cxx={self.builder.cxx} kernel {piece.seed} {' '.join(batch.passes)}\n{text}", flush=True)

    def refused(self, batch, pieces):
        """Those of the pieces that pldc itself does not take, with what it says; nothing is compiled."""
        folder = self.work / "refused"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "random.pld").write_text(program_text(pieces)[0])
        try:
            self.builder.emit(folder / "random.pld", folder / "tree", batch.passes)
        except Failure as failure:
            if len(pieces) == 1:
                return [(pieces[0], str(failure))]
            half = len(pieces) // 2
            return self.refused(batch, pieces[:half]) + self.refused(batch, pieces[half:])
        return []

    def narrow(self, batch, text):
        """The program does not build or run: which of its kernels does not, alone?"""
        if self.failed >= self.options.failures:
            return
        refused = self.refused(batch, batch.pieces)
        for piece, problem in refused:
            smaller = next(iter(found for found in (self.refused(batch, [step]) for step in steps(piece)) if found),
                           [(piece, problem)])
            self.report(batch, piece, smaller[0][0].text(0, ROWS) + smaller[0][1])
        rest = [piece for piece in batch.pieces if all(piece is not other for other, _ in refused)]
        if refused:
            if rest:
                self.examine(batch.of(rest))
            return
        if len(rest) > 1:
            half = len(rest) // 2
            for part in (rest[:half], rest[half:]):
                self.examine(batch.of(part))
            return
        piece, problem = batch.pieces[0], text
        for smaller in steps(piece):
            try:
                self.run([smaller], batch)
            except Failure as failure:
                piece, problem = smaller, str(failure)
                break
        self.report(batch, batch.pieces[0], piece.text(0, ROWS) + problem)

    def reduced(self, batch, piece, problem):
        """The first value on the way that differs says most."""
        many = steps(piece)
        try:
            outputs = self.run(many, batch)
            for i, step in enumerate(many):
                what = difference(step, i, outputs)
                if what is not None:
                    return step.text(0, ROWS) + what
        except Failure:
            pass
        return piece.text(0, ROWS) + problem


def stage_names(pldc, last=26):
    """The passes of the default pipeline up to that place; kernels do not change any more after 26."""
    listed = subprocess.run([pldc, "list", "passes", "--json"], stdout=subprocess.PIPE, check=True).stdout
    every = [p for p in json.loads(listed) if any(n <= last for n in p["positions"])]
    return [p["name"] for p in every]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--length", type=int, default=24, help="statements of a kernel")
    Builder.add_options(parser, few=70, many=10000, batch=200)
    parser.add_argument("--counts", action="store_true", help="how often each operation has been made")
    options = parser.parse_args()
    options.stages = stage_names(options.pldc)
    np.seterr(all="ignore")  # what lies outside of valid parts is not looked at
    with tempfile.TemporaryDirectory() as temporary:
        tester = Tester(options, options.keep or pathlib.Path(temporary))
        tester.table_problems()
        done = run_batches(tester)
    if options.counts:
        for op in tester.table.made("tile") + tester.table.made("tensor"):
            print(f"{tester.made.get(op, 0):8} {op}")
    print(f"{done} kernels, {tester.again} of them again after a pass")
    print(f"{tester.passed} passed, {tester.failed} failed")
    return 1 if tester.failed else 0


if __name__ == "__main__":
    sys.exit(main())
