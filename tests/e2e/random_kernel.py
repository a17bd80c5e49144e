"""Random kernels with their values: each statement is made together with what it computes, by numpy, element by element.

A value knows how far the program may be from it: 0 where every operation rounds correctly, so that the result must be
the very same, and a bound where an order of additions or a library function is free. Statements that would turn a small
difference into a large one (casts, comparisons) take exact values only.
"""
import numpy as np

ROWS, COLS = 40, 72  # of the input tensors, and of the part of an output that a kernel has

KINDS = {"FP32": np.float32, "FP16": np.float16, "BF16": np.float32, "INT32": np.int32, "INT16": np.int16,
         "INT8": np.int8, "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32}
INPUTS = ["FP32", "FP16", "INT32", "INT16", "INT8", "UINT8", "UINT16", "UINT32"]
OUTPUTS = INPUTS
FLOATS = ("FP32", "FP16", "BF16")
EPS = {"FP32": 2.0 ** -23, "FP16": 2.0 ** -10, "BF16": 2.0 ** -7}
LIBRARY = {"FP32": 2e-6, "FP16": 2e-3, "BF16": 1.2e-2}  # relative error of exp, log and the like


def rounded(kind, values):
    """The values as the dtype holds them: floats to nearest even, integers modulo their width."""
    if kind == "BF16":
        bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
        return bits.astype(np.uint32).view(np.float32)
    if kind in FLOATS:
        with np.errstate(over="ignore"):
            return np.asarray(values).astype(KINDS[kind])
    return np.asarray(values).astype(np.int64).astype(KINDS[kind])


class Reject(Exception):
    """This statement cannot be made here; the generator tries another."""


class Tile:
    def __init__(self, kind, data, valid=None, error=None):
        self.kind, self.data = kind, data
        self.valid = tuple(valid) if valid is not None else data.shape
        self.error = error if error is not None else np.zeros(data.shape)
        inside = self.box()
        if kind in FLOATS and not np.isfinite(inside.astype(np.float64)).all():
            raise Reject
        if not np.isfinite(self.error[:self.valid[0], :self.valid[1]]).all():
            raise Reject

    def box(self):
        return self.data[:self.valid[0], :self.valid[1]]

    def full(self):
        return self.valid == self.data.shape

    def exact(self):
        return not self.error.any()

    def like(self, other):
        return self.kind == other.kind and self.data.shape == other.data.shape and self.valid == other.valid


class Scalar:
    def __init__(self, kind, value):
        self.kind, self.value = kind, value


class Stmt:
    def __init__(self, name, lines, uses):
        self.name, self.lines, self.uses = name, lines, uses


def computed(kind, exact, error, like, slack=True):
    """A tile of rounded values; a result of inexact operands is also rounded differently."""
    data = rounded(kind, exact)
    if kind in FLOATS and error.any() and slack:
        error = error + EPS[kind] * np.abs(data.astype(np.float64))
    return Tile(kind, data, like.valid, error)


def wide(tile):
    return tile.data.astype(np.float64 if tile.kind in FLOATS else np.int64)


def arithmetic(op, a, b, ea, eb):
    """Result and error bound in wide numbers; a float result has at most the error of one rounding to float64."""
    with np.errstate(all="ignore"):
        if op == "add":
            return a + b, ea + eb
        if op == "sub":
            return a - b, ea + eb
        if op == "mul":
            return a * b, np.abs(a) * eb + np.abs(b) * ea + ea * eb
        if op == "maximum":
            return np.maximum(a, b), np.maximum(ea, eb)
        if op == "minimum":
            return np.minimum(a, b), np.maximum(ea, eb)
        if op == "and_":
            return a & b, ea
        if op == "or_":
            return a | b, ea
        if op == "xor":
            return a ^ b, ea
    raise AssertionError(op)


class Kernel:
    """Statements of one kernel; `tiles` and `scalars` are what the next one may use."""

    def __init__(self, rng, index, inputs, scalars):
        self.rng, self.index, self.inputs = rng, index, inputs
        self.scalars = dict(scalars)
        self.tiles, self.statements = {}, []
        self.count = 0
        self.shape = (int(rng.integers(1, 20)), int(rng.choice([5, 8, 16, 17, 24, 32])))

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

    def add(self, text, uses, value, before=()):
        name = self.fresh()
        self.statements.append(Stmt(name, [*before, f"{name} = {text}"], uses))
        if isinstance(value, Scalar):
            self.scalars[name] = value
        else:
            self.tiles[name] = value

    def scratch(self, shape, kind):
        name = self.fresh("w")
        return name, f"{name} = pl.tile.create([{shape[0]}, {shape[1]}], dtype=pl.{kind})"

    # ---- statements
    def load(self, shape=None, kind=None):
        rows, cols = shape or self.shape
        kind = kind or self.choice(INPUTS)
        r, c = int(self.rng.integers(0, ROWS - rows + 1)), int(self.rng.integers(0, COLS - cols + 1))
        data = self.inputs[kind][r:r + rows, c:c + cols]
        valid, text = (rows, cols), ""
        if shape is None and self.rng.random() < 0.25:
            valid = (int(self.rng.integers(1, rows + 1)), int(self.rng.integers(1, cols + 1)))
            text = f", [{valid[0]}, {valid[1]}]"
        self.add(f"pl.load({kind.lower()}, [{r}, {c}], [{rows}, {cols}]{text})", [], Tile(kind, data.copy(), valid))

    def binary(self):
        a, x = self.pick()
        b, y = self.pick(lambda t: t.like(x))
        ops = ["add", "sub", "mul", "maximum", "minimum"] + ([] if x.kind in FLOATS else ["and_", "or_", "xor"])
        op = self.choice(ops)
        if x.kind == "BF16" and op in ("maximum", "minimum"):
            raise Reject
        exact, error = arithmetic(op, wide(x), wide(y), x.error, y.error)
        before = []
        extra = ""
        if op == "xor":
            scratch, line = self.scratch(x.data.shape, x.kind)
            before, extra = [line], f", {scratch}"
        self.add(f"pl.tile.{op}({a}, {b}{extra})", [a, b], computed(x.kind, exact, error, x), before)

    def divide(self):
        a, x = self.pick(lambda t: t.kind in ("FP32", "FP16", "INT16", "INT32") and t.exact())
        b, y = self.pick(lambda t: t.like(x) and t.exact() and (t.box() != 0).all())
        n, d = wide(x), np.where(wide(y) == 0, 1, wide(y))
        if x.kind in FLOATS:
            exact = n / d
        else:
            exact = np.sign(n) * np.sign(d) * (np.abs(n) // np.abs(d))
        self.add(f"pl.tile.div({a}, {b})", [a, b], computed(x.kind, exact, np.zeros(n.shape), x))

    def with_scalar(self):
        a, x = self.pick()
        op = self.choice(["add", "sub", "mul", "maximum", "minimum"])
        if op == "sub" and x.kind not in ("INT8", "INT16", "INT32", "FP16", "FP32"):
            raise Reject
        if x.kind == "BF16":
            raise Reject
        uses = [a]
        known = [n for n, s in self.scalars.items() if s.kind == x.kind]
        if known and self.rng.random() < 0.5:
            text = self.choice(known)
            value = self.scalars[text].value
            uses.append(text)
        elif x.kind in FLOATS:
            value = float(self.rng.integers(-12, 13)) / 4
            text = repr(value)
        else:
            value = int(self.rng.integers(0, 8)) if x.kind.startswith("U") else int(self.rng.integers(-7, 8))
            text = str(value)
        s = np.full(x.data.shape, value, wide(x).dtype)
        exact, error = arithmetic(op, wide(x), s, x.error, np.zeros(s.shape))
        self.add(f"pl.tile.{op}s({a}, {text})", uses, computed(x.kind, exact, error, x))

    def unary(self):
        a, x = self.pick()
        ops = ["abs", "neg", "relu"] if x.kind in ("FP32", "FP16", "INT32") else ["abs", "neg"]
        if x.kind in ("INT16", "UINT16"):
            ops.append("not_")
        if x.kind.startswith("U"):
            ops = [op for op in ops if op == "not_"]
        if x.kind == "BF16":
            ops = []
        if x.kind in ("FP32", "FP16") and x.exact():
            ops += ["exp", "log", "sqrt", "recip", "rsqrt"]
        if not ops:
            raise Reject
        op = self.choice(ops)
        v = wide(x)
        inside = x.box().astype(np.float64)
        if op in ("log", "recip", "rsqrt") and not (inside > 0.01).all():
            raise Reject
        if op == "sqrt" and not (inside >= 0).all():
            raise Reject
        if op == "exp" and not (np.abs(inside) < 8).all():
            raise Reject
        with np.errstate(all="ignore"):
            result = {"abs": np.abs, "neg": lambda z: -z, "relu": lambda z: np.where(z > 0, z, 0), "not_": lambda z: ~z,
                      "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "recip": lambda z: 1 / z,
                      "rsqrt": lambda z: 1 / np.sqrt(z)}[op](v)
        error = x.error
        if op in ("exp", "log", "sqrt", "recip", "rsqrt"):
            error = LIBRARY[x.kind] * np.abs(result) + (1e-6 if op == "log" else 0)
            result, error = np.nan_to_num(result, nan=0, posinf=0, neginf=0), np.nan_to_num(error, nan=0, posinf=0)
        self.add(f"pl.tile.{op}({a})", [a], computed(x.kind, result, error, x, op not in ("abs", "neg")))

    def shift(self):
        a, x = self.pick(lambda t: t.kind not in FLOATS)
        op = self.choice(["shls", "shrs", "ands", "ors"])
        width = KINDS[x.kind]().itemsize * 8
        n = int(self.rng.integers(0, width - 1)) if op.startswith("sh") else int(self.rng.integers(0, 100))
        v = wide(x)
        exact = {"shls": lambda: v << n, "shrs": lambda: v >> n, "ands": lambda: v & n, "ors": lambda: v | n}[op]()
        self.add(f"pl.tile.{op}({a}, {n})", [a], computed(x.kind, exact, x.error, x))

    def cast(self):
        a, x = self.pick(lambda t: t.exact())
        to = self.choice([k for k in KINDS if k != x.kind])
        v = wide(x)
        inside = x.box().astype(np.float64)
        if to in FLOATS:
            mode = "rint"
            if x.kind not in FLOATS and np.abs(inside).max() >= 2 ** 24:
                raise Reject
            result = rounded("FP32", v) if to == "BF16" else v
        else:
            info = np.iinfo(KINDS[to])
            mode = self.choice(["rint", "round", "floor", "ceil", "trunc"])
            result = v
            if x.kind in FLOATS:
                result = {"rint": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
                          "round": lambda z: np.trunc(z + np.copysign(0.5, z))}[mode](v)
            box = result[:x.valid[0], :x.valid[1]]
            if box.min() < info.min or box.max() > info.max:
                raise Reject
            result = np.clip(result, info.min, info.max)
        self.add(f"pl.tile.cast({a}, target_type=pl.{to}, mode='{mode}')", [a],
                 computed(to, result, np.zeros(v.shape), x))

    def select(self):
        a, x = self.pick(lambda t: t.exact() and t.kind in ("FP32", "FP16", "INT32", "INT16"))
        b, y = self.pick(lambda t: t.like(x) and t.exact())
        p, u = self.pick(lambda t: t.like(x))
        q, w = self.pick(lambda t: t.like(x))
        number = int(self.rng.integers(6))
        holds = [np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal][number](x.data, y.data)
        mask = self.fresh("m")
        scratch, line = self.scratch((1, 64), "UINT8")
        before = [f"{mask} = pl.tile.cmp({a}, {b}, cmp_type={number})", line]
        value = Tile(x.kind, np.where(holds, u.data, w.data), x.valid, np.where(holds, u.error, w.error))
        self.add(f"pl.tile.sel({mask}, {p}, {q}, {scratch})", [a, b, p, q], value, before)

    def reduce(self):
        a, x = self.pick(lambda t: t.data.shape[1] > 1 and t.data.shape[0] > 1)
        axis = self.choice(["row", "col"])
        op = self.choice(["sum", "max", "min"])
        if x.kind not in ("FP32", "FP16", "INT32", "INT16"):
            raise Reject
        box = x.box()
        along = 1 if axis == "row" else 0
        if op == "sum":
            v = box.astype(np.float64 if x.kind in FLOATS else np.int64).sum(axis=along, keepdims=True)
            error = x.error[:x.valid[0], :x.valid[1]].sum(axis=along, keepdims=True)
            if x.kind in FLOATS:
                total = np.abs(box.astype(np.float64)).sum(axis=along, keepdims=True)
                error = error + EPS[x.kind] * total * (box.shape[along] - 1)
        else:
            v = getattr(box, op)(axis=along, keepdims=True)
            error = x.error[:x.valid[0], :x.valid[1]].max(axis=along, keepdims=True)
        shape = (x.data.shape[0], 1) if axis == "row" else (1, x.data.shape[1])
        data, errors = np.zeros(shape, np.float64 if x.kind in FLOATS else np.int64), np.zeros(shape)
        data[:v.shape[0], :v.shape[1]], errors[:v.shape[0], :v.shape[1]] = v, error
        before, extra = [], ""
        if axis == "row":
            scratch, line = self.scratch(x.data.shape, x.kind)
            before, extra = [line], f", {scratch}"
        self.add(f"pl.tile.{axis}_{op}({a}{extra})", [a], Tile(x.kind, rounded(x.kind, data), v.shape, errors), before)

    def expand(self):
        axis = self.choice(["row", "col"])
        b, y = self.pick(lambda t: t.data.shape[1 if axis == "row" else 0] == 1 and t.data.size > 1)
        other = 0 if axis == "row" else 1
        a, x = self.pick(lambda t: t.kind == y.kind and t.data.shape[1 if axis == "row" else 0] > 1 and
                         t.data.shape[other] == y.data.shape[other] and t.valid[other] == y.valid[other])
        op = self.choice(["add", "sub", "mul", "max", "min", ""])
        if not op:
            shape = x.data.shape
            value = Tile(x.kind, np.broadcast_to(y.data, shape).copy(), x.valid, np.broadcast_to(y.error, shape).copy())
            return self.add(f"pl.tile.{axis}_expand({a}, {b})", [a, b], value)
        if x.kind not in ("FP32", "FP16"):
            raise Reject
        exact, error = arithmetic({"max": "maximum", "min": "minimum"}.get(op, op), wide(x), wide(y), x.error, y.error)
        self.add(f"pl.tile.{axis}_expand_{op}({a}, {b})", [a, b], computed(x.kind, exact, error, x))

    def slice(self):
        a, x = self.pick(lambda t: t.full() and t.data.shape[1] > 1 and t.data.shape[0] > 1)
        rows = int(self.rng.integers(1, x.data.shape[0] + 1))
        r = int(self.rng.integers(0, x.data.shape[0] - rows + 1))
        size = x.data.itemsize if x.kind != "BF16" else 2
        step = 32 // size
        cols = x.data.shape[1] if x.data.shape[1] <= step else int(self.rng.integers(1, x.data.shape[1] // step + 1)) * step
        c = 0 if cols == x.data.shape[1] else int(self.rng.integers(0, (x.data.shape[1] - cols) // step + 1)) * step
        part = np.s_[r:r + rows, c:c + cols]
        value = Tile(x.kind, x.data[part].copy(), None, x.error[part].copy())
        self.add(f"pl.tile.slice({a}, [{rows}, {cols}], [{r}, {c}])", [a], value)

    def transpose(self):
        a, x = self.pick(lambda t: t.full() and t.data.shape[0] > 1 and t.data.shape[1] > 1 and t.kind != "BF16")
        self.add(f"pl.tile.transpose({a}, 0, 1)", [a], Tile(x.kind, x.data.T.copy(), None, x.error.T.copy()))

    def reshape(self):
        a, x = self.pick(lambda t: t.full() and t.data.shape[1] > 1 and t.data.size % 16 == 0 and
                         (t.data.shape[1] * (2 if t.kind == "BF16" else t.data.itemsize)) % 32 == 0)
        size = 2 if x.kind == "BF16" else x.data.itemsize
        counts = [n for n in (8, 16, 32, 64) if x.data.size % n == 0 and n * size % 32 == 0 and x.data.size // n <= 64]
        if not counts:
            raise Reject
        cols = self.choice(counts)
        shape = (x.data.size // cols, cols)
        self.add(f"pl.tile.reshape({a}, [{shape[0]}, {shape[1]}])", [a],
                 Tile(x.kind, x.data.reshape(shape).copy(), None, x.error.reshape(shape).copy()))

    def concat(self):
        a, x = self.pick(lambda t: t.full() and 1 < t.data.shape[1] <= 32)
        b, y = self.pick(lambda t: t.full() and 1 < t.data.shape[1] <= 32 and t.kind == x.kind and
                         t.data.shape[0] == x.data.shape[0])
        self.add(f"pl.tile.concat({a}, {b})", [a, b], Tile(x.kind, np.concatenate([x.data, y.data], 1), None,
                                                          np.concatenate([x.error, y.error], 1)))

    def fillpad(self):
        a, x = self.pick(lambda t: not t.full() and t.kind in INPUTS and t.data.shape[1] > 1)
        data, error = np.zeros_like(x.data), np.zeros(x.data.shape)
        data[:x.valid[0], :x.valid[1]] = x.box()
        error[:x.valid[0], :x.valid[1]] = x.error[:x.valid[0], :x.valid[1]]
        self.add(f"pl.tile.fillpad({a}, pad_value=pl.PadValue.zero)", [a], Tile(x.kind, data, None, error))

    def narrow(self):
        a, x = self.pick(lambda t: t.full() and t.data.shape[0] > 1 and t.data.shape[1] > 1)
        valid = (int(self.rng.integers(1, x.data.shape[0] + 1)), int(self.rng.integers(1, x.data.shape[1] + 1)))
        self.add(f"pl.tile.set_validshape({a}, {valid[0]}, {valid[1]})", [a], Tile(x.kind, x.data, valid, x.error))

    def constant(self):
        kind = self.choice(["FP32", "FP16", "INT32", "INT16"])
        value = float(self.rng.integers(-9, 10)) / 2 if kind in FLOATS else int(self.rng.integers(-9, 10))
        self.add(f"pl.tile.full([{self.shape[0]}, {self.shape[1]}], dtype=pl.{kind}, value={value})", [],
                 Tile(kind, np.full(self.shape, value, KINDS[kind])))

    def read(self):
        a, x = self.pick(lambda t: t.exact() and t.kind in ("FP32", "INT32"))
        r, c = int(self.rng.integers(0, x.valid[0])), int(self.rng.integers(0, x.valid[1]))
        value = x.data[r, c]
        if x.kind == "INT32" and not -1000 < value < 1000:
            raise Reject
        self.add(f"pl.tile.read({a}, [{r}, {c}])", [a], Scalar(x.kind, float(value) if x.kind == "FP32" else int(value)))

    def branch(self):
        a, x = self.pick()
        b, y = self.pick(lambda t: t.like(x))
        ops = [self.choice(["add", "sub", "mul"]) for _ in range(2)]
        s = self.choice([n for n, v in self.scalars.items() if v.kind == "INT32"])
        limit = int(self.rng.integers(-4, 10))
        taken = ops[0] if self.scalars[s].value > limit else ops[1]
        exact, error = arithmetic(taken, wide(x), wide(y), x.error, y.error)
        name = self.fresh()
        lines = [f"if {s} > {limit}:", f"    {name} = pl.tile.{ops[0]}({a}, {b})", "else:",
                 f"    {name} = pl.tile.{ops[1]}({a}, {b})"]
        value = computed(x.kind, exact, error, x)
        self.statements.append(Stmt(name, lines, [a, b, s]))
        self.tiles[name] = value

    def loop(self):
        a, x = self.pick(lambda t: t.full() and t.kind in INPUTS and t.data.shape[1] > 1)
        rows, cols = x.data.shape
        if rows > ROWS - 8 or cols > COLS:
            raise Reject
        op = self.choice(["add", "sub", "maximum", "minimum"])
        s = self.choice([n for n, v in self.scalars.items() if v.kind == "INT32" and n in ("n", "m")])
        first, step = int(self.rng.integers(0, 3)), int(self.rng.integers(1, 4))
        c = int(self.rng.integers(0, COLS - cols + 1))
        acc = x
        skipped = int(self.rng.integers(0, 4)) if self.rng.random() < 0.4 else None
        for i in range(first, self.scalars[s].value, step):
            if skipped is not None and i == skipped:
                continue
            part = self.inputs[x.kind][i:i + rows, c:c + cols]
            exact, error = arithmetic(op, wide(acc), wide(Tile(x.kind, part)), acc.error, np.zeros(part.shape))
            acc = computed(x.kind, exact, error, x)
        name, inner = self.fresh(), self.fresh("u")
        body = [f"{inner} = pl.load({x.kind.lower()}, [i, {c}], [{rows}, {cols}])",
                f"{name} = pl.tile.{op}({name}, {inner})"]
        if skipped is not None:
            body = [f"if i != {skipped}:"] + ["    " + line for line in body]
        lines = [f"{name} = {a}", f"for i in pl.range({first}, pl.cast({s}, pl.INDEX), {step}):"] + \
                ["    " + line for line in body]
        self.statements.append(Stmt(name, lines, [a, s]))
        self.tiles[name] = acc

    def grow(self, length):
        made = [self.binary] * 5 + [self.with_scalar] * 3 + [self.unary] * 3 + [
            self.load, self.divide, self.shift, self.cast, self.cast, self.select, self.reduce, self.reduce, self.expand,
            self.expand, self.slice, self.transpose, self.reshape, self.concat, self.fillpad, self.narrow, self.constant,
            self.read, self.branch, self.loop]
        kind = self.choice(INPUTS)
        self.load(kind=kind)
        self.load(self.tiles[self.statements[0].name].data.shape, kind)
        tries = 0
        while len(self.statements) < length and tries < 40 * length:
            tries += 1
            before = (self.count, len(self.statements))
            try:
                self.choice(made)()
            except Reject:
                self.count = before[0]
                del self.statements[before[1]:]

    def result(self):
        names = [s.name for s in self.statements if s.name in self.tiles and self.tiles[s.name].kind in OUTPUTS and
                 self.tiles[s.name].data.shape[0] <= ROWS and self.tiles[s.name].data.shape[1] <= COLS]
        return names[-1]

    def needed(self, name):
        """The statements that a value depends on, in order."""
        wanted, kept = {name}, []
        for s in reversed(self.statements):
            if s.name in wanted:
                kept.append(s)
                wanted.update(s.uses)
        return kept[::-1]
