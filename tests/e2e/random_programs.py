#!/usr/bin/env python3
"""Random programs against numpy: kernels made by random_kernel.py, many in one program, built and run by pldc.

    random_programs.py --pldc=build/src/driver/pldc [--programs=N] [--batch=N] [--seed=N] [--opt=-O0] [--keep=DIR]

A failure prints the seed, the smallest piece of the kernel that still differs, and the element. The last line is
`N passed, N failed`; a program is one kernel.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from random_kernel import COLS, FLOATS, INPUTS, KINDS, OUTPUTS, ROWS, Kernel, Scalar  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNITY = 16  # kernels in one C++ file: each alone would read the runtime headers again


def inputs(rng):
    made = {}
    for kind in INPUTS:
        if kind in FLOATS:
            made[kind] = (rng.integers(-16, 17, (ROWS, COLS)) / 8).astype(KINDS[kind])
        else:
            low = 0 if kind.startswith("U") else -9
            made[kind] = rng.integers(low, 10, (ROWS, COLS)).astype(KINDS[kind])
    return made


class Piece:
    """What one kernel function of the program computes and stores: a value of a Kernel with what it needs."""

    def __init__(self, kernel, name):
        self.name, self.value = name, kernel.tiles[name]
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
        lines.append(f"        return pl.store({self.name}, [{index * ROWS}, 0], y)")
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


class Failure(Exception):
    pass


class Builder:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.runs = 0

    def call(self, command):
        done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise Failure(" ".join(map(str, command)) + "\n" + done.stdout[-3000:])
        return done.stdout

    def compile(self, source, tree):
        """The program of the text, with many kernels in one C++ file."""
        self.call([self.options.pldc, "build", source, "-o", tree, "--emit-only"])
        kernels = sorted((tree / "kernels").glob("*/*.cpp"))
        unity = []
        for first in range(0, len(kernels), UNITY):
            name = f"unity{first // UNITY}"
            unity.append(f"build/host/{name}.o")
            (tree / "host" / f"{name}.cpp").write_text("".join(
                f"#define kernel_entry pldk_{k.parent.name}_{k.stem}\n#include \"../{k.relative_to(tree)}\"\n"
                "#undef kernel_entry\n" for k in kernels[first:first + UNITY]))
        chips = [f"build/chips/{c.stem}.o" for c in sorted((tree / "chips").glob("*.cpp"))]
        objects = ["build/runtime.o", "build/watch.o", "build/launcher.o", "build/host/host_orch.o"] + chips + unity
        flags = f"CXXFLAGS={self.options.opt} -w"
        for shared in ("runtime.o", "watch.o", "launcher.o"):
            kept = self.work / shared
            if kept.exists():
                (tree / "build").mkdir(exist_ok=True)
                os.link(kept, tree / "build" / shared)
        self.call(["make", "-s", f"-j{self.options.jobs}", "-C", tree, flags, "OBJECTS=" + " ".join(objects),
                   f"bin/{source.stem}"])
        for shared in ("runtime.o", "watch.o", "launcher.o"):
            if not (self.work / shared).exists():
                os.link(tree / "build" / shared, self.work / shared)
        return tree / "bin" / source.stem

    def run(self, pieces, given, scalars):
        """The outputs by dtype; Failure with the text of what went wrong."""
        self.runs += 1
        folder = self.work / f"run{self.runs}"
        folder.mkdir(parents=True)
        text, kinds = program_text(pieces)
        (folder / "random.pld").write_text(text)
        binary = self.compile(folder / "random.pld", folder / "tree")
        command = [binary, "--timeout=120", "--check=bounds"]
        for kind, array in given.items():
            np.save(folder / f"{kind}.npy", array)
            command.append(f"--in={kind.lower()}={folder}/{kind}.npy")
        command += [f"--scalar={name}={s.value}" for name, s in scalars.items()]
        command += [f"--out=o_{kind.lower()}={folder}/o_{kind}.npy" for kind in kinds]
        self.call(command)
        return {kind: np.load(folder / f"o_{kind}.npy") for kind in kinds}


def difference(piece, index, outputs):
    """What is wrong with the part of the outputs that the piece has written, or nothing."""
    value = piece.value
    part = outputs[value.kind][index * ROWS:(index + 1) * ROWS]
    rows, cols = value.valid
    got = part[:rows, :cols].astype(np.float64)
    wrong = ~(np.abs(got - value.box().astype(np.float64)) <= value.error[:rows, :cols])
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


class Tester:
    def __init__(self, options, work):
        self.options, self.builder = options, Builder(options, work)
        self.passed, self.failed = 0, 0

    def batch(self, seed, size):
        rng = np.random.default_rng(seed)
        given = inputs(rng)
        scalars = {"n": Scalar("INT32", int(rng.integers(0, 9))), "m": Scalar("INT32", int(rng.integers(-3, 6))),
                   "f": Scalar("FP32", float(rng.integers(-8, 9)) / 4)}
        kernels = []
        for i in range(size):
            kernel = Kernel(np.random.default_rng([seed, i]), i, given, scalars)
            kernel.grow(int(rng.integers(4, self.options.length)))
            kernels.append(kernel)
        pieces = [Piece(k, k.result()) for k in kernels]
        try:
            outputs = self.builder.run(pieces, given, scalars)
        except Failure as failure:
            return self.narrow(seed, kernels, pieces, given, scalars, str(failure))
        for i, piece in enumerate(pieces):
            problem = difference(piece, i, outputs)
            if problem is None:
                self.passed += 1
            else:
                self.report(seed, i, self.reduced(kernels[i], piece, problem, given, scalars))

    def report(self, seed, index, text):
        self.failed += 1
        print(f"FAIL --seed={seed} kernel {index}\n{text}", flush=True)

    def narrow(self, seed, kernels, pieces, given, scalars, text):
        """The program does not build or run: which of its kernels does not, alone?"""
        if len(pieces) == 1:
            piece, problem = pieces[0], text
            for name in [s.name for s in piece.statements if s.name in kernels[0].tiles]:
                smaller = Piece(kernels[0], name)
                if smaller.value.kind not in OUTPUTS or smaller.value.data.shape[0] > ROWS or \
                        smaller.value.data.shape[1] > COLS:
                    continue
                try:
                    self.builder.run([smaller], given, scalars)
                except Failure as failure:
                    piece, problem = smaller, str(failure)
                    break
            return self.report(seed, pieces[0].seed, piece.text(0, ROWS) + problem)
        half = len(pieces) // 2
        for part in (slice(0, half), slice(half, None)):
            try:
                outputs = self.builder.run(pieces[part], given, scalars)
            except Failure as failure:
                if self.failed >= self.options.failures:
                    return
                self.narrow(seed, kernels[part], pieces[part], given, scalars, str(failure))
                continue
            for i, piece in enumerate(pieces[part]):
                problem = difference(piece, i, outputs)
                if problem is None:
                    self.passed += 1
                else:
                    self.report(seed, piece.seed, self.reduced(kernels[part][i], piece, problem, given, scalars))

    def reduced(self, kernel, piece, problem, given, scalars):
        """Every value on the way is a program of its own: the first that differs says most."""
        names = [s.name for s in piece.statements if s.name in kernel.tiles]
        steps = [Piece(kernel, name) for name in names]
        steps = [p for p in steps if p.value.kind in OUTPUTS and p.value.data.shape[0] <= ROWS and
                 p.value.data.shape[1] <= COLS]
        try:
            outputs = self.builder.run(steps, given, scalars)
            for i, step in enumerate(steps):
                what = difference(step, i, outputs)
                if what is not None:
                    return step.text(0, ROWS) + what
        except Failure:
            pass
        return piece.text(0, ROWS) + problem


def main():
    full = os.environ.get("PLDC_TEST_STAGES") == "all"
    parser = argparse.ArgumentParser()
    parser.add_argument("--pldc", default=str(ROOT / "build/src/driver/pldc"))
    parser.add_argument("--programs", type=int, default=10000 if full else 160)
    parser.add_argument("--batch", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="of the first batch; the next ones count on")
    parser.add_argument("--length", type=int, default=24, help="statements of a kernel")
    parser.add_argument("--opt", default="-O0")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--failures", type=int, default=10, help="stop after so many")
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        tester = Tester(options, options.keep or pathlib.Path(temporary))
        done, seed = 0, options.seed
        while done < options.programs and tester.failed < options.failures:
            size = min(options.batch, options.programs - done)
            tester.batch(seed, size)
            done, seed = done + size, seed + 1
    print(f"{tester.passed} passed, {tester.failed} failed")
    return 1 if tester.failed else 0


if __name__ == "__main__":
    sys.exit(main())
