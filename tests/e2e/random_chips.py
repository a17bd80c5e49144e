#!/usr/bin/env python3
"""Random orchestrations against numpy: dispatches of kernels with one result or two, in place or into new memory, operations on
tensors outside and inside of scopes, loops with carries, parallel loops, branches, numbers read from tensors, submitted tasks.

    random_chips.py --pldc=build/src/driver/pldc [--programs=N] [--batch=N] [--seed=N] [--stops=N]

Each program is an orchestration with kernels of its own; a batch is one text, which runs after the whole pipeline and after
some of the passes only. A failure prints the seed, the program and the element. The last line is `N passed, N failed`; a
program counts once for each run.
"""
import argparse
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from random_build import Builder, Failure, main_of  # noqa: E402
from random_programs import stage_names  # noqa: E402

ROWS, COLS, STRIP = 16, 32, 4
KINDS = {"FP32": np.float32, "FP16": np.float16, "INT32": np.int32}
BINARY = {"add": np.add, "sub": np.subtract, "maximum": np.maximum, "minimum": np.minimum}
SCALAR = {"adds": np.add, "subs": np.subtract, "muls": np.multiply}


class Value:
    """`data`: what it holds; `owned`: memory that only this name stands for, so that a kernel may write it in place."""

    def __init__(self, kind, data, owned=False):
        self.kind, self.data, self.owned = kind, data, owned


class ChipProgram:
    def __init__(self, rng, index, scalars, given):
        self.rng, self.index, self.scalars, self.given = rng, index, dict(scalars), given
        self.values = {f"x{k.lower()}": Value(k, data) for k, data in given.items()}
        self.functions, self.lines, self.depth, self.count = [], [], 0, 0
        makers = [self.dispatch, self.dispatch, self.pair, self.computed, self.in_place, self.tensors, self.scope, self.parts,
                  self.loop, self.loop, self.two_carries, self.parallel, self.branch, self.read, self.counted, self.submitted]
        for _ in range(int(rng.integers(4, 11))):
            self.choice(makers)()
        self.results = []
        for n in range(int(rng.integers(1, 4))):
            name, value = self.pick()
            self.emit(f"y{n} = self.{self.mapped(value.kind, 1)[0]}({name}, y{n})")
            self.results.append(Value(value.kind, self.last(value.data)))

    # ---- choosing
    def choice(self, items):
        return items[int(self.rng.integers(len(items)))]

    def fresh(self, letter="v"):
        self.count += 1
        return f"{letter}{self.count}"

    def pick(self, kind=None):
        names = [n for n, v in self.values.items() if kind in (None, v.kind)]
        name = names[len(names) - 1 - min(int(self.rng.exponential(2.5)), len(names) - 1)]
        return name, self.values[name]

    def emit(self, line):
        self.lines.append("    " * self.depth + line)

    def alias(self, v, a):
        """Another name of the same memory, which nobody may write in place from now on."""
        self.emit(f"{v} = {a}")
        self.values[a].owned = False

    def create(self, kind):
        name = self.fresh("m")
        self.emit(f"{name} = pl.create_tensor([{ROWS}, {COLS}], dtype=pl.{kind})")
        return name

    def number(self, kind):
        return int(self.rng.integers(-4, 5)) if kind == "INT32" else float(self.rng.integers(-8, 9)) / 4

    def literal(self, kind, value):
        return f"pl.const({value}, pl.{kind})"

    # ---- kernels: the name and the function of the data
    def kernel(self, parameters, result, body):
        name = f"k{self.index}_{len(self.functions)}"
        self.functions.append("\n".join(
            ["    @pl.function(type=pl.FunctionType.InCore)", f"    def {name}(self, {parameters}) -> {result}:"] +
            ["        " + line for line in body]))
        return name

    @staticmethod
    def type(kind, way=""):
        text = f"pl.Tensor[[{ROWS}, {COLS}], pl.{kind}]"
        return f"pl.{way}[{text}]" if way else text

    def step(self, kind, level, target, a, b):
        """One operation of two values, or one with a number: the line and its function of both."""
        if self.rng.random() < 0.6:
            op = self.choice(list(BINARY))
            return f"{target} = pl.{level}.{op}({a}, {b})", BINARY[op]
        op, s = self.choice(list(SCALAR)), self.number(kind)
        return (f"{target} = pl.{level}.{op}({a}, {self.literal(kind, s)})",
                lambda x, y: SCALAR[op](x, np.asarray(s, x.dtype)))

    def body(self, kind, operands, level="tile"):
        """Statements that make `r` of the operands' tiles t0, t1, ...; what it is."""
        lines, steps, last = [], [], "t0"
        for n in range(int(self.rng.integers(1, 4))):
            other = f"t{int(self.rng.integers(operands))}"
            line, function = self.step(kind, level, f"u{n}", last, other)
            lines.append(line)
            steps.append((function, int(other[1:])))
            last = f"u{n}"

        def value(*data):
            r = data[0]
            with np.errstate(all="ignore"):
                for function, other in steps:
                    r = function(r, data[other]).astype(r.dtype)
            return r
        return lines, last, value

    def loads(self, count):
        return [f"t{n} = pl.load(x{n}, [0, 0], [{ROWS}, {COLS}])" for n in range(count)]

    def mapped(self, kind, count):
        """Into the memory that it is given."""
        lines, r, value = self.body(kind, count)
        self.last = value
        ins = ", ".join(f"x{n}: {self.type(kind)}" for n in range(count))
        return self.kernel(f"{ins}, y: {self.type(kind, 'Out')}", self.type(kind),
                           self.loads(count) + lines + [f"return pl.store({r}, [0, 0], y)"]), value

    def accumulating(self, kind):
        op = self.choice(list(BINARY))
        name = self.kernel(f"x0: {self.type(kind)}, y: {self.type(kind, 'InOut')}", self.type(kind), self.loads(1) + [
            f"w = pl.load(y, [0, 0], [{ROWS}, {COLS}])", f"return pl.store(pl.tile.{op}(w, t0), [0, 0], y)"])
        return name, lambda x, y: BINARY[op](y, x)

    # ---- statements
    def dispatch(self):
        a, x = self.pick()
        b, y = self.pick(x.kind)
        name, value = self.mapped(x.kind, 2)
        memory, v = self.create(x.kind), self.fresh()
        self.emit(f"{v} = self.{name}({a}, {b}, {memory})")
        self.values[v] = Value(x.kind, value(x.data, y.data), True)

    def pair(self):
        a, x = self.pick()
        b, y = self.pick(x.kind)
        kind = x.kind
        first, r, f = self.body(kind, 2)
        op = self.choice(list(BINARY))
        name = self.kernel(
            f"x0: {self.type(kind)}, x1: {self.type(kind)}, y: {self.type(kind, 'Out')}, z: {self.type(kind, 'Out')}",
            f"tuple[{self.type(kind)}, {self.type(kind)}]",
            self.loads(2) + first + [f"s = pl.tile.{op}({r}, t1)", f"return pl.store({r}, [0, 0], y), pl.store(s, [0, 0], z)"])
        m1, m2 = self.create(kind), self.create(kind)
        v, w = self.fresh(), self.fresh()
        self.emit(f"{v}, {w} = self.{name}({a}, {b}, {m1}, {m2})")
        one = f(x.data, y.data)
        self.values[v], self.values[w] = Value(kind, one, True), Value(kind, BINARY[op](one, y.data), True)

    def computed(self):
        """A kernel of tensor operations, which gets memory for its result by a pass."""
        a, x = self.pick()
        b, y = self.pick(x.kind)
        lines, r, value = self.body(x.kind, 2, "tensor")
        name = self.kernel(f"t0: {self.type(x.kind)}, t1: {self.type(x.kind)}", self.type(x.kind), lines + [f"return {r}"])
        v = self.fresh()
        self.emit(f"{v} = self.{name}({a}, {b})")
        self.values[v] = Value(x.kind, value(x.data, y.data), True)

    def in_place(self):
        owned = [n for n, v in self.values.items() if v.owned]
        if not owned:
            return self.dispatch()
        b = self.choice(owned)
        old = self.values[b]
        others = [n for n, v in self.values.items() if v.kind == old.kind and n != b]
        a = self.choice(others)
        name, value = self.accumulating(old.kind)
        v = self.fresh()
        self.emit(f"{v} = self.{name}({a}, {b})")
        del self.values[b]  # it has been written
        self.values[v] = Value(old.kind, value(self.values[a].data, old.data), True)
        return None

    def tensors(self):
        a, x = self.pick()
        b, y = self.pick(x.kind)
        v = self.fresh()
        line, function = self.step(x.kind, "tensor", v, a, b)
        self.emit(line)
        self.values[v] = Value(x.kind, function(x.data, y.data).astype(x.data.dtype))

    def scope(self):
        a, x = self.pick()
        b, y = self.pick(x.kind)
        v = self.fresh()
        self.emit("with pl.at(level=pl.Level.CORE_GROUP):")
        self.depth += 1
        line, function = self.step(x.kind, "tensor", f"{v}a", a, b)
        self.emit(line)
        second, after = self.step(x.kind, "tensor", v, f"{v}a", b)
        self.emit(second)
        self.depth -= 1
        half = function(x.data, y.data).astype(x.data.dtype)
        self.values[v] = Value(x.kind, after(half, y.data).astype(x.data.dtype))

    def parts(self):
        """The halves of a tensor change places."""
        a, x = self.pick()
        half, v = ROWS // 2, self.fresh()
        memory = self.create(x.kind)
        name = self.kernel(f"x0: pl.Tensor[[{half}, {COLS}], pl.{x.kind}], x1: pl.Tensor[[{half}, {COLS}], pl.{x.kind}], "
                           f"y: {self.type(x.kind, 'Out')}", self.type(x.kind), [
                               f"y = pl.store(pl.load(x0, [0, 0], [{half}, {COLS}]), [0, 0], y)",
                               f"return pl.store(pl.load(x1, [0, 0], [{half}, {COLS}]), [{half}, 0], y)"])
        self.emit(f"{v}h = pl.tensor.slice({a}, [{half}, {COLS}], [{half}, 0])")
        self.emit(f"{v}l = pl.tensor.slice({a}, [{half}, {COLS}], [0, 0])")
        self.emit(f"{v} = self.{name}({v}h, {v}l, {memory})")
        self.values[v] = Value(x.kind, np.concatenate([x.data[half:], x.data[:half]]), True)

    def bounds(self):
        s, first, step = self.choice(["n", "m"]), int(self.rng.integers(0, 2)), int(self.rng.integers(1, 3))
        return f"{first}, pl.cast({s}, pl.INDEX), {step}", range(first, self.scalars[s], step)

    def loop(self):
        """A carry that is written in place, made anew, or computed by the orchestration; with a condition or in a nest."""
        a, x = self.pick()
        b, y = self.pick(x.kind)
        v, way = self.fresh(), self.choice(["place", "anew", "tensors"])
        extent, trips = self.bounds()
        skipped = int(self.rng.integers(0, 3)) if self.rng.random() < 0.4 else None
        if way == "place":
            name, value = self.accumulating(x.kind)
            copy, start = self.mapped(x.kind, 1)
            self.emit(f"{v} = self.{copy}({a}, {self.create(x.kind)})")
            data, line = start(x.data), f"{v} = self.{name}({b}, {v})"
            function = lambda r: value(y.data, r)  # noqa: E731
        elif way == "anew":
            lines, r, value = self.body(x.kind, 2, "tensor")
            name = self.kernel(f"t0: {self.type(x.kind)}, t1: {self.type(x.kind)}", self.type(x.kind), lines + [f"return {r}"])
            self.alias(v, a)
            data, line = x.data, f"{v} = self.{name}({v}, {b})"
            function = lambda r: value(r, y.data)  # noqa: E731
        else:
            line, step = self.step(x.kind, "tensor", v, v, b)
            self.alias(v, a)
            data, function = x.data, lambda r: step(r, y.data).astype(r.dtype)
        self.emit(f"for i in pl.range({extent}):")
        self.depth += 1
        if skipped is not None:
            self.emit(f"if i != {skipped}:")
        self.depth += skipped is not None
        self.emit(line)
        self.depth -= 1 + (skipped is not None)
        with np.errstate(all="ignore"):
            for i in trips:
                if i != skipped:
                    data = function(data)
        self.values[v] = Value(x.kind, data, way == "place")

    def two_carries(self):
        """Two values that a kernel hands on, changing places."""
        a, x = self.pick()
        b, y = self.pick(x.kind)
        lines, r, value = self.body(x.kind, 2, "tensor")
        name = self.kernel(f"t0: {self.type(x.kind)}, t1: {self.type(x.kind)}",
                           f"tuple[{self.type(x.kind)}, {self.type(x.kind)}]",
                           lines + ["s = pl.tensor.adds(t0, " + self.literal(x.kind, 1) + ")", f"return {r}, s"])
        v, w = self.fresh(), self.fresh()
        extent, trips = self.bounds()
        self.alias(v, a)
        self.alias(w, b)
        self.emit(f"for i in pl.range({extent}):")
        self.emit(f"    {v}, {w} = self.{name}({v}, {w})")
        p, q = x.data, y.data
        for _ in trips:
            p, q = value(p, q), p + np.asarray(1, p.dtype)
        self.values[v], self.values[w] = Value(x.kind, p), Value(x.kind, q)

    def parallel(self):
        """Strips of the result, one a trip."""
        a, x = self.pick()
        op, s = self.choice(list(SCALAR)), self.number(x.kind)
        name = self.kernel(f"x0: {self.type(x.kind)}, y: {self.type(x.kind, 'InOut')}, i: pl.Scalar[pl.INDEX]",
                           self.type(x.kind), [
                               f"t = pl.load(x0, [i * {STRIP}, 0], [{STRIP}, {COLS}])",
                               f"t = pl.tile.{op}(t, {self.literal(x.kind, s)})",
                               f"return pl.store(t, [i * {STRIP}, 0], y)"])
        memory, way = self.create(x.kind), self.choice(["range", "parallel"])
        v = self.fresh()
        self.emit(f"{v} = {memory}")
        self.emit(f"for i in pl.{way}({ROWS // STRIP}):")
        self.emit(f"    {v} = self.{name}({a}, {v}, i)")
        with np.errstate(all="ignore"):
            self.values[v] = Value(x.kind, SCALAR[op](x.data, np.asarray(s, x.data.dtype)), True)

    def branch(self):
        a, x = self.pick()
        b, y = self.pick(x.kind)
        s, limit = self.choice(list(self.scalars)), int(self.rng.integers(-3, 6))
        v = self.fresh()
        taken = self.scalars[s] > limit
        if self.rng.random() < 0.5:
            (one, f), (two, g) = self.mapped(x.kind, 2), self.mapped(x.kind, 2)
            memory = self.create(x.kind)
            self.emit(f"if {s} > {limit}:")
            self.emit(f"    {v} = self.{one}({a}, {b}, {memory})")
            self.emit("else:")
            self.emit(f"    {v} = self.{two}({b}, {a}, {memory})")
            self.values[v] = Value(x.kind, f(x.data, y.data) if taken else g(y.data, x.data), True)
        else:
            line, function = self.step(x.kind, "tensor", v, v, b)
            self.alias(v, a)
            self.emit(f"if {s} > {limit}:")
            self.emit("    " + line)
            self.values[v] = Value(x.kind, function(x.data, y.data).astype(x.data.dtype) if taken else x.data)

    def read(self):
        """A number of a tensor, for the conditions that come."""
        a, x = self.pick("INT32")
        r, c = int(self.rng.integers(ROWS)), int(self.rng.integers(COLS))
        if abs(int(x.data[r, c])) > 1000:
            return
        s = self.fresh("s")
        self.emit(f"{s} = pl.tensor.read({a}, [{r}, {c}])")
        self.scalars[s] = int(x.data[r, c])

    def counted(self):
        """A number goes to a kernel."""
        a, x = self.pick("INT32")
        s = self.choice(list(self.scalars))
        op = self.choice(["adds", "subs"])
        name = self.kernel(f"x0: {self.type('INT32')}, s: pl.Scalar[pl.INT32], y: {self.type('INT32', 'Out')}",
                           self.type("INT32"), self.loads(1) + [f"return pl.store(pl.tile.{op}(t0, s), [0, 0], y)"])
        v = self.fresh()
        self.emit(f"{v} = self.{name}({a}, {s}, {self.create('INT32')})")
        self.values[v] = Value("INT32", SCALAR[op](x.data, np.int32(self.scalars[s])), True)

    def submitted(self):
        """Two tasks in a scope of their own, the second after the first."""
        a, x = self.pick()
        (one, f), (two, g) = self.mapped(x.kind, 1), self.mapped(x.kind, 2)
        m1, m2 = self.create(x.kind), self.create(x.kind)
        v, w = self.fresh(), self.fresh()
        self.emit("with pl.manual_scope():")
        self.emit(f"    {v}, {v}t = pl.submit(self.{one}, {a}, {m1})")
        self.emit(f"    {w}, {w}t = pl.submit(self.{two}, {v}, {a}, {m2}, deps=[{v}t])")
        self.values[w] = Value(x.kind, g(f(x.data), x.data), True)

    # ---- text
    def text(self):
        ins = ", ".join(f"x{k.lower()}: {self.type(k)}" for k in KINDS)
        outs = ", ".join(f"y{n}: {self.type(v.kind, 'Out')}" for n, v in enumerate(self.results))
        kinds = [self.type(v.kind) for v in self.results]
        result = kinds[0] if len(kinds) == 1 else f"tuple[{', '.join(kinds)}]"
        return "\n\n".join(self.functions + ["\n".join(
            ["    @pl.function(type=pl.FunctionType.Orchestration)",
             f"    def chip{self.index}(self, {ins}, n: pl.Scalar[pl.INT32], m: pl.Scalar[pl.INT32], {outs}) -> {result}:"] +
            ["        " + line for line in self.lines] +
            ["        return " + ", ".join(f"y{n}" for n in range(len(kinds)))]),
            # A program may have many host functions to begin with, but one orchestration.
            f"    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n    def host{self.index}(self, {ins}, "
            f"n: pl.Scalar[pl.INT32], m: pl.Scalar[pl.INT32], {outs}):\n        self.chip{self.index}("
            f"{', '.join(f'x{k.lower()}' for k in KINDS)}, n, m, {', '.join(f'y{n}' for n in range(len(kinds)))}, device=0)"]) + "\n"


class Tester:
    def __init__(self, options, work):
        self.options, self.builder, self.work = options, Builder(options, work), work
        self.passed, self.failed, self.runs = 0, 0, 0
        self.stages = stage_names(options.pldc)

    def fail(self, seed, program, text):
        self.failed += 1
        print(f"FAIL --seed={seed} --cxx={self.builder.cxx} program {program.index}\n{program.text()}\n{text}", flush=True)

    def batch(self, seed, size):
        self.builder.begin(seed)
        rng = np.random.default_rng(seed)
        given = {k: (rng.integers(-9, 10, (ROWS, COLS)) if k == "INT32" else rng.integers(-16, 17, (ROWS, COLS)) / 8)
                 .astype(dtype) for k, dtype in KINDS.items()}
        scalars = {"n": int(rng.integers(0, 6)), "m": int(rng.integers(-1, 4))}
        with np.errstate(all="ignore"):
            programs = [ChipProgram(np.random.default_rng([seed, i]), i, scalars, given) for i in range(size)]
        chosen = [[]] + ([["--passes=NONE"]] + [[f"--stop-after={n}"] for n in rng.permutation(self.stages)])[:self.options.stops]
        for passes in chosen:
            self.run(seed, programs, given, scalars, passes)
            if self.failed >= self.options.failures:
                return

    def run(self, seed, programs, given, scalars, passes):
        self.runs += 1
        folder = self.work / f"chips{self.runs}"
        folder.mkdir(parents=True)
        (folder / "random.pld").write_text(
            "import pypto.language as pl\nimport pypto.language.distributed as pld\n\n\n@pl.program\nclass Random:\n" +
            "\n".join(p.text() for p in programs))
        try:
            binary = self.builder.compile(folder / "random.pld", folder / "tree", passes)
        except Failure as failure:
            if len(programs) == 1:
                return self.fail(seed, programs[0], f"{passes}: {failure}")
            for program in programs:  # which one is it?
                if self.failed < self.options.failures:
                    self.run(seed, [program], given, scalars, passes)
            return None
        for k, data in given.items():
            np.save(folder / f"{k}.npy", data)
        for program in programs:
            command = [binary, f"--entry=host{program.index}", "--timeout=60", "--check=bounds"]
            command += [f"--in=x{k.lower()}={folder}/{k}.npy" for k in given]
            command += [f"--scalar={name}={scalars[name]}" for name in ("n", "m")]
            command += [f"--out=y{n}={folder}/y{n}.npy" for n in range(len(program.results))]
            try:
                self.builder.call(command)
            except Failure as failure:
                self.fail(seed, program, f"{passes}: {failure}")
                continue
            for n, wanted in enumerate(program.results):
                got = np.load(folder / f"y{n}.npy")
                if not np.array_equal(got, wanted.data, equal_nan=wanted.kind != "INT32"):
                    r, c = np.argwhere(got != wanted.data)[0]
                    self.fail(seed, program, f"{passes}: y{n}[{r}, {c}] is {got[r, c]}, should be {wanted.data[r, c]}")
                    break
            else:
                self.passed += 1
        return None


def main():
    parser = argparse.ArgumentParser()
    Builder.add_options(parser, few=10, many=400, batch=20)
    return main_of(Tester, parser)


if __name__ == "__main__":
    sys.exit(main())
