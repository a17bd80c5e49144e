"""Random kernels with their values: each statement is made together with what it computes, by numpy, element by element.

Which operations there are is what the table of pldc says, see random_table.py; the makers stand in random_elements.py and
random_shapes.py, branches and loops here."""
import numpy as np

import random_elements  # noqa: F401
import random_shapes  # noqa: F401
import random_tensors  # noqa: F401
from random_table import MAKERS, makes
from random_values import FLOATS, KINDS, Reject, Scalar, Stmt, Tile, arithmetic, computed, is_int, wide

ROWS, COLS = 40, 72  # of the input tensors, and of the part of an output that a kernel has
INPUTS = OUTPUTS = list(KINDS)
ATOMIC = ("FP32", "BF16", "FP16", "INT32", "INT16", "INT8")  # what can be added where it is; outputs begin with zeros


@makes(part="tile.load tile.store tile.create tensor.slice tensor.assemble")
class Kernel:
    """Statements of one kernel; `tiles` and `scalars` are what the next one may use."""

    level = "tile"

    def __init__(self, rng, index, inputs, scalars, table, shape):
        self.rng, self.index, self.inputs, self.table = rng, index, inputs, table
        self.ops = table.made(self.level)
        self.op = self.making = ""  # the operation that is being made: as it is called, its name
        self.scalars = dict(scalars)
        self.tiles, self.statements = {}, []
        self.count = 0
        self.shape = shape

    # ---- choosing
    def pick(self, wanted=lambda t: True):
        names = [n for n, t in self.tiles.items() if wanted(t)]
        if not names:
            raise Reject
        # Younger values more often, so that chains grow long.
        at = len(names) - 1 - min(int(self.rng.exponential(2.5)), len(names) - 1)
        return names[at], self.tiles[names[at]]

    def choice(self, items):
        return items[int(self.rng.integers(len(items)))]

    def fresh(self, letter="t"):
        self.count += 1
        return f"{letter}{self.count}"

    def declare(self, name, lines, uses, value):
        self.statements.append(Stmt(name, lines, uses, self.making))
        if isinstance(value, Scalar):
            self.scalars[name] = value
        else:
            self.tiles[name] = value

    def add(self, text, uses, value, before=()):
        name = self.fresh()
        self.declare(name, [*before, f"{name} = {text}"], uses, value)

    def scratch(self, shape, kind):
        name = self.fresh("w")
        return name, f"{name} = pl.tile.create([{shape[0]}, {shape[1]}], dtype=pl.{kind})"

    def temporary(self, shape, kind):
        """Scratch memory as a last operand: the statement before and the operand."""
        name, line = self.scratch(shape, kind)
        return [line], f", {name}"

    # ---- statements
    def loaded(self, kind, at, shape, more=""):
        return f"pl.load({kind.lower()}, [{at}], [{shape[0]}, {shape[1]}]{more})"

    def load(self, shape=None, kind=None, clamp=False):
        rows, cols = shape or self.shape
        kind = kind or self.choice(INPUTS)
        r, c = int(self.rng.integers(0, ROWS - rows + 1)), int(self.rng.integers(0, COLS - cols + 1))
        valid, text = (rows, cols), ""
        if clamp:
            r, c = int(self.rng.integers(0, ROWS)), int(self.rng.integers(0, COLS))
            valid, text = (min(rows, ROWS - r), min(cols, COLS - c)), ", clamp=True"
        elif shape is None and self.rng.random() < 0.25:
            valid = (int(self.rng.integers(1, rows + 1)), int(self.rng.integers(1, cols + 1)))
            text = f", [{valid[0]}, {valid[1]}]"
        data = np.zeros((rows, cols), KINDS[kind])
        part = self.inputs[kind][r:r + rows, c:c + cols]
        data[:part.shape[0], :part.shape[1]] = part
        self.add(self.loaded(kind, f"{r}, {c}", (rows, cols), text), [], Tile(kind, data, valid))

    def number(self):
        return self.choice([n for n, v in self.scalars.items() if v.kind == "INT32"])

    def branch(self):
        """A value of both branches, of one, or of nested ones."""
        a, x = self.pick(lambda t: not t.view)
        b, y = self.pick(lambda t: t.like(x))
        ops = [self.choice(["add", "sub", "mul", "maximum"]) for _ in range(3)]
        s, u = self.number(), self.number()
        limit, second = int(self.rng.integers(-4, 10)), int(self.rng.integers(-4, 10))
        name = self.fresh()
        form = self.choice(["else", "elif", "one", "nested"])
        higher, other = self.scalars[s].value > limit, self.scalars[u].value < second
        step = [f"{name} = pl.{self.level}.{op}({a}, {b})" for op in ops]
        if form == "else":
            lines = [f"if {s} > {limit}:", f"    {step[0]}", "else:", f"    {step[1]}"]
            taken = ops[0] if higher else ops[1]
        elif form == "elif":
            lines = [f"if {s} > {limit}:", f"    {step[0]}", f"elif {u} < {second}:", f"    {step[1]}", "else:",
                     f"    {step[2]}"]
            taken = ops[0] if higher else ops[1] if other else ops[2]
        elif form == "one":
            lines = [f"{name} = {a}", f"if {s} > {limit} and {u} < {second}:", f"    {step[0]}"]
            taken = ops[0] if higher and other else None
        else:
            lines = [f"{name} = {a}", f"if {s} > {limit}:", f"    if {u} < {second}:", f"        {step[0]}", "    else:",
                     f"        {step[1]}"]
            taken = (ops[0] if other else ops[1]) if higher else None
        # What a branch that is not taken computes does not matter.
        value = x
        if taken is not None:
            exact, error = arithmetic(taken, wide(x), wide(y), x.error, y.error)
            value = computed(x.kind, exact, error, x)
        self.declare(name, lines, [a, b, s, u], value)

    def loop(self):
        """One or two carries, ascending or descending, with a step that is left out, or as a while loop."""
        a, x = self.pick(lambda t: t.full() and t.data.shape[1] > 1 and not t.view)
        rows, cols = x.data.shape
        if rows > ROWS - 8 or cols > COLS:
            raise Reject
        op = self.choice(["add", "sub", "maximum", "minimum"])
        s = self.choice(["n", "m"])
        first, step = int(self.rng.integers(0, 3)), int(self.rng.integers(1, 4))
        c = int(self.rng.integers(0, COLS - cols + 1))
        skipped = int(self.rng.integers(0, 4)) if self.rng.random() < 0.4 else None
        form = self.choice(["for", "for", "down", "while", "two"])
        end = self.scalars[s].value
        trips = list(range(first, end, step)) if form != "down" else list(range(7, end, -step))
        if trips and min(trips) < 0:
            raise Reject
        acc = last = x
        for i in trips:
            if i == skipped:
                continue
            part = Tile(x.kind, self.inputs[x.kind][i:i + rows, c:c + cols])
            exact, error = arithmetic(op, wide(acc), wide(part), acc.error, part.error)
            last, acc = acc, computed(x.kind, exact, error, x)
        name, inner = self.fresh(), self.fresh("u")
        body = [f"{inner} = " + self.loaded(x.kind, f"i, {c}", (rows, cols)),
                f"{name} = pl.{self.level}.{op}({name}, {inner})"]
        before = [f"{name} = {a}"]
        if form == "two":
            previous = self.fresh()
            before.append(f"{previous} = {a}")
            body = body[:1] + [f"{previous} = {name}"] + body[1:]
        if skipped is not None:
            jump = form != "while" and self.rng.random() < 0.5
            body = [f"if i == {skipped}:", "    continue"] + body if jump else \
                [f"if i != {skipped}:"] + ["    " + line for line in body]
        if form == "while":
            counter = self.fresh("i")
            body = [line.replace("[i,", f"[{counter},").replace("if i ", f"if {counter} ") for line in body]
            before.append(f"{counter} = pl.const({first}, pl.INDEX)")
            lines = before + [f"while {counter} < pl.cast({s}, pl.INDEX):"] + \
                ["    " + line for line in body + [f"{counter} = {counter} + {step}"]]
        else:
            extent = f"7, pl.cast({s}, pl.INDEX), -{step}" if form == "down" else f"{first}, pl.cast({s}, pl.INDEX), {step}"
            lines = before + [f"for i in pl.range({extent}):"] + ["    " + line for line in body]
        self.declare(name, lines, [a, s], acc)
        if form == "two":
            self.declare(previous, [], [name], last)

    def stored(self):
        """Whether the tile may be what the kernel stores: written by the write rules, and small enough."""
        return [s.name for s in self.statements if s.name in self.tiles and storable(self.tiles[s.name])]

    def statement(self):
        if self.rng.random() < 0.12:
            self.making = ""
            return self.choice([self.branch, self.loop])()
        op = self.choice(self.ops)
        self.op, self.making = self.table.spelled[op], op
        self.choice(MAKERS[op][self.level])(self, op.split(".", 1)[1])

    def grow(self, length):
        kind = self.choice(INPUTS)
        self.load(kind=kind)
        self.load(self.tiles[self.statements[0].name].data.shape, kind)
        tries = 0
        while len(self.statements) < length and tries < 60 * length:
            tries += 1
            before = (self.count, len(self.statements), dict(self.tiles), dict(self.scalars))
            try:
                self.statement()
            except Reject:
                self.count, at, self.tiles, self.scalars = before
                del self.statements[at:]

    def result(self):
        return self.stored()[-1]

    def last(self, name, row):
        """Writes the value to its rows of the output."""
        atomic = ", atomic=pl.AtomicType.Add" if self.index % 5 == 0 and self.tiles[name].kind in ATOMIC else ""
        return [f"return pl.store({name}, [{row}, 0], y{atomic})"]

    def needed(self, name):
        """The statements that a value depends on, in order."""
        wanted, kept = {name}, []
        for s in reversed(self.statements):
            if s.name in wanted:
                kept.append(s)
                wanted.update(s.uses)
        return kept[::-1]


class TensorKernel(Kernel):
    """The same of operations on tensors, which ConvertTensorToTileOps makes tiles of."""
    level = "tensor"

    def temporary(self, shape, kind):
        return [], ""

    def loaded(self, kind, at, shape, more=""):
        return f"pl.tensor.slice({kind.lower()}, [{shape[0]}, {shape[1]}], [{at}]{more})"

    def last(self, name, row):
        return [f"y = pl.tensor.assemble(y, {name}, [{row}, 0])", "return y"]


def storable(tile):
    return tile.data.shape[0] <= ROWS and tile.data.shape[1] <= COLS


def inputs(rng):
    """One tensor a dtype: floats are multiples of 1/8 up to 2, integers are small."""
    made = {}
    for kind in INPUTS:
        if is_int(kind):
            made[kind] = rng.integers(0 if kind.startswith("U") else -9, 10, (ROWS, COLS)).astype(KINDS[kind])
        else:
            made[kind] = (rng.integers(-16, 17, (ROWS, COLS)) / 8).astype(KINDS[kind])
    return made


__all__ = ["COLS", "FLOATS", "INPUTS", "OUTPUTS", "ROWS", "Kernel", "Scalar", "TensorKernel", "inputs", "storable"]
