"""Statements that compute each element from those at its place: arithmetic, bits, casts, comparisons."""
import numpy as np

from random_table import makes
from random_values import (
    EPS, FLOATS, KINDS, LIBRARY, Reject, Tile, arithmetic, computed, is_int, rounded, wide)

BITS = ("and", "or", "xor", "shl", "shr")
DIVIDING = ("div", "fmod", "rem")
QUOTIENTS = ("FP32", "FP16", "INT16", "INT32")
NAMES = {"max": "maximum", "min": "minimum"}


def suits(k, op, x):
    """Whether the operation takes such a value. Some results of tensors count as wholly valid whatever the operands are."""
    if k.level == "tensor" and (op == "xor" or op.startswith("part")) and not x.full():
        raise Reject
    if op in BITS and not is_int(x.kind):
        raise Reject
    if op == "div" and x.kind not in QUOTIENTS:
        raise Reject
    if op in DIVIDING and not x.exact():
        raise Reject


def second(k, op, x, other):
    """Whether the second operand, a tile or a number, has a value that the operation takes."""
    box = other.box() if isinstance(other, Tile) else np.array(other)
    if op in DIVIDING and (box == 0).any():
        raise Reject
    if op in ("fmod", "rem") and x.kind in FLOATS:
        # fmod is exact; where the quotient is huge, its error bound would be too.
        if x.kind != "FP32" or (np.abs(x.box()).max() > 2.0 ** 20 * np.abs(box).min()):
            raise Reject
    if op in ("shl", "shr") and ((box < 0).any() or (box >= 8 * KINDS[x.kind]().itemsize).any()):
        raise Reject


@makes("add sub mul maximum minimum div fmod rem and or xor shl "
       "shr", tensor="add sub mul maximum minimum div fmod and or xor shl shr")
def binary(k, op):
    a, x = k.pick()
    suits(k, op, x)
    if op in ("shl", "shr") and k.rng.random() < 0.7:
        b, y = counts(k, x)
    else:
        b, y = k.pick(lambda t: t.like(x) and (t.exact() or op not in DIVIDING))
    second(k, op, x, y)
    exact, error = arithmetic(op, wide(x), wide(y), x.error, y.error)
    before, extra = k.temporary(x.data.shape, x.kind) if op in ("xor", "rem") else ([], "")
    k.add(f"{k.op}({a}, {b}{extra})", [a, b], computed(x.kind, exact, error, x), before)


def counts(k, x):
    """A tile like x with counts of a shift in it."""
    n = int(k.rng.integers(0, 8 * KINDS[x.kind]().itemsize))
    if not x.full():
        raise Reject
    value = Tile(x.kind, np.full(x.data.shape, n, KINDS[x.kind]))
    name = k.fresh()
    k.declare(name, [f"{name} = pl.{k.level}.full([{x.data.shape[0]}, {x.data.shape[1]}], dtype=pl.{x.kind}, value={n})"], [], value)
    return name, value


def scalar_of(k, kind, op):
    """A variable or a literal: its text and value."""
    known = [n for n, s in k.scalars.items() if s.kind == kind]
    if known and op not in DIVIDING + BITS and k.rng.random() < 0.5:
        text = k.choice(known)
        return text, k.scalars[text].value, [text]
    if kind in FLOATS:
        value = float(k.rng.integers(-12, 13)) / 4
        # A bare literal is FP32, and with a tensor of another dtype the result is as wide; see promoting().
        bare = kind == "FP32" or (kind == "FP16" and k.level == "tile")
        return (repr(value) if bare else f"pl.const({value!r}, pl.{kind})"), value, []
    low = 0 if kind.startswith("U") or op in ("shl", "shr") else -7
    value = int(k.rng.integers(low, 8))
    return (str(value) if k.rng.random() < 0.5 else f"pl.const({value}, pl.{kind})"), value, []


@makes("adds subs muls divs maximums minimums fmods rems ands ors xors "
       "shls shrs", tensor="adds subs muls divs fmods ands ors xors shls shrs")
def with_scalar(k, op):
    op = op.removesuffix("s")
    a, x = k.pick()
    suits(k, op, x)
    if op == "sub" and x.kind not in ("INT8", "INT16", "INT32", "FP16", "FP32", "BF16"):
        raise Reject
    text, value, uses = scalar_of(k, x.kind, op)
    second(k, op, x, value)
    s = np.full(x.data.shape, value, wide(x).dtype)
    exact, error = arithmetic(op, wide(x), s, x.error, np.zeros(s.shape))
    before, extra = [], ""
    if op in ("xor", "rem"):
        before, extra = k.temporary(x.data.shape, x.kind)
        text = text if text.startswith("pl.const") or uses else f"pl.const({text}, pl.{x.kind})"
    k.add(f"{k.op}({a}, {text}{extra})", [a, *uses], computed(x.kind, exact, error, x), before)


@makes(tensor="adds muls divs")
def promoting(k, op):
    """A bare literal is FP32 beside narrower floats, too (format.md 4.2.1), and so is what comes out."""
    a, x = k.pick(lambda t: t.kind in (("FP16",) if op == "divs" else ("FP16", "BF16", "INT16", "INT32")) and t.exact())
    if is_int(x.kind) and np.abs(x.box().astype(np.float64)).max() >= 2 ** 24:
        raise Reject
    value = float(k.rng.integers(1, 12)) / 4 * k.choice([-1, 1])
    wider = rounded("FP32", x.data).astype(np.float64)
    exact, error = arithmetic(op[:-1], wider, np.full(wider.shape, value), x.error, np.zeros(wider.shape))
    k.add(f"{k.op}({a}, {value!r})", [a], computed("FP32", exact, error, x))


@makes("addc subc addsc subsc")
def three(k, op):
    a, x = k.pick()
    c, z = k.pick(lambda t: t.like(x))
    first = op[:3]
    if op.endswith("sc"):
        b, value, uses = scalar_of(k, x.kind, first)
        middle = np.full(x.data.shape, value, wide(x).dtype)
        error = np.zeros(x.data.shape)
        b = b if b.startswith("pl.const") or uses else f"pl.const({b}, pl.{x.kind})"
    else:
        b, y = k.pick(lambda t: t.like(x))
        middle, error, uses = wide(y), y.error, [b]
    exact, error = arithmetic(first, wide(x), middle, x.error, error)
    half = computed(x.kind, exact, error, x)
    exact, error = arithmetic(first, wide(half), wide(z), half.error, z.error)
    k.add(f"{k.op}({a}, {b}, {c})", [a, *uses, c], computed(x.kind, exact, error, x))


@makes("abs neg relu not", tensor="abs neg not")
def sign(k, op):
    a, x = k.pick(lambda t: t.kind in ("INT16", "UINT16") if op == "not" else True)
    v = wide(x)
    with np.errstate(all="ignore"):
        exact = {"abs": lambda z: z if x.kind.startswith("U") else np.abs(z), "neg": lambda z: z * z.dtype.type(0) - z,
                 "relu": lambda z: np.where(z > 0, z, 0), "not": lambda z: ~z}[op](v)
    k.add(f"{k.op}({a})", [a], computed(x.kind, exact, x.error, x, False))


RANGES = {"exp": lambda v: np.abs(v) < 8, "log": lambda v: v > 0.01, "sqrt": lambda v: v >= 0, "rsqrt": lambda v: v > 0.01,
          "recip": lambda v: np.abs(v) > 0.01, "sin": lambda v: np.abs(v) < 64, "cos": lambda v: np.abs(v) < 64}
FUNCTIONS = {"exp": np.exp, "log": np.log, "sqrt": np.sqrt, "recip": lambda z: 1 / z, "rsqrt": lambda z: 1 / np.sqrt(z),
             "sin": np.sin, "cos": np.cos}


@makes("exp log sqrt rsqrt recip sin cos", tensor="exp log sqrt rsqrt recip sin cos")
def library(k, op):
    kinds = ("FP32",) if op in ("sin", "cos") else ("FP32", "FP16") if op == "log" else FLOATS
    a, x = k.pick(lambda t: t.kind in kinds and t.exact() and RANGES[op](t.box().astype(np.float64)).all())
    with np.errstate(all="ignore"):
        exact = FUNCTIONS[op](wide(x))
    floor = {"log": 1e-6, "sin": 1e-5, "cos": 1e-5}.get(op, 0)
    error = LIBRARY[x.kind] * np.abs(exact) + floor
    exact, error = np.nan_to_num(exact, nan=0, posinf=0, neginf=0), np.nan_to_num(error, nan=0, posinf=0)
    k.add(f"{k.op}({a})", [a], computed(x.kind, exact, error, x))


@makes("lrelu")
def lrelu(k, op):
    a, x = k.pick(lambda t: t.kind in FLOATS)
    slope = float(k.choice([0.0, 0.25, 0.5, 1.0, -1.0]))
    v = wide(x)
    k.add(f"{k.op}({a}, {slope})", [a], computed(x.kind, np.where(v > 0, v, v * slope), x.error, x))


@makes("prelu")
def prelu(k, op):
    a, x = k.pick(lambda t: t.kind in ("FP32", "FP16"))
    b, y = k.pick(lambda t: t.like(x))
    if not x.exact():
        raise Reject
    exact, error = arithmetic("mul", wide(x), wide(y), x.error, y.error)
    name, line = k.scratch(x.data.shape, x.kind)
    k.add(f"{k.op}({a}, {b}, {name})", [a, b],
          computed(x.kind, np.where(wide(x) > 0, wide(x), exact), np.where(wide(x) > 0, 0, error), x), [line])


@makes("part_add part_mul part_max part_min", tensor="part_add part_mul part_max part_min")
def part(k, op):
    """The second operand covers a part of the first."""
    a, x = k.pick(lambda t: t.data.shape[1] > 1)
    b, y = k.pick(lambda t: t.kind == x.kind and t.data.shape == x.data.shape and t.valid[0] <= x.valid[0] and
                  t.valid[1] <= x.valid[1])
    suits(k, op, x)
    leaf = NAMES.get(op[5:], op[5:])
    exact, error = arithmetic(leaf, wide(x), wide(y), x.error, y.error)
    both = np.zeros(x.data.shape, bool)
    both[:y.valid[0], :y.valid[1]] = True
    value = computed(x.kind, exact, np.where(both, error, 0), x)
    k.add(f"{k.op}({a}, {b})", [a, b], Tile(x.kind, np.where(both, value.data, x.data), x.valid,
                                            np.where(both, value.error, x.error)))


def cast_value(k, x, to):
    """The mode and what comes out."""
    inside = x.box().astype(np.float64)
    v = wide(x)
    if to in FLOATS:
        if is_int(x.kind) and np.abs(inside).max() >= 2 ** 24:
            raise Reject
        return "rint", rounded(to, rounded("FP32", v) if to == "BF16" else v)
    info = np.iinfo(KINDS[to])
    mode = k.choice(["rint", "round", "floor", "ceil", "trunc"])
    result = v
    if x.kind in FLOATS:
        result = {"rint": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc,
                  "round": lambda z: np.trunc(z + np.copysign(0.5, z))}[mode](v)
        # A double does not hold the ends of 64 bits.
        edge = min(float(info.max), 2.0 ** 62)
        if np.abs(result[:x.valid[0], :x.valid[1]]).max() > edge:
            raise Reject
        result = np.clip(result, max(info.min, -2 ** 62), edge)
    box = result[:x.valid[0], :x.valid[1]]
    if int(box.min()) < info.min or int(box.max()) > info.max:
        raise Reject
    return mode, rounded(to, result)


@makes("cast", tensor="cast")
def cast(k, op):
    a, x = k.pick(lambda t: t.exact())
    to = k.choice([kind for kind in KINDS if kind != x.kind])
    mode, data = cast_value(k, x, to)
    k.add(f"{k.op}({a}, target_type=pl.{to}, mode='{mode}')", [a], computed(to, data, np.zeros(data.shape), x))


COMPARE = [np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal]
SELECTED = ("FP32", "FP16", "INT32", "INT16", "INT8", "UINT8", "UINT16", "UINT32")


@makes("cmp cmps sel sels")
def select(k, op):
    """A mask, of one of the two comparisons, and what one of the two choices makes of it."""
    a, x = k.pick(lambda t: t.exact() and t.kind in SELECTED)
    number = int(k.rng.integers(6))
    uses = [a]
    if op == "cmps" or (op != "cmp" and k.rng.random() < 0.5):
        text, value, more = scalar_of(k, x.kind, "and")
        if value < 0 and x.kind.startswith("U"):
            raise Reject
        holds = COMPARE[number](x.data, np.asarray(value).astype(x.data.dtype))
        mask_text = f"pl.tile.cmps({a}, {text}, cmp_type={number})"
        uses += more
    else:
        b, y = k.pick(lambda t: t.like(x) and t.exact())
        holds = COMPARE[number](x.data, y.data)
        mask_text = f"pl.tile.cmp({a}, {b}, cmp_type={number})"
        uses.append(b)
    mask = k.fresh("m")
    name, line = k.scratch((1, 64), "UINT8")
    before = [f"{mask} = {mask_text}", line]
    p, u = k.pick(lambda t: t.like(x) and t.kind in SELECTED)
    if op == "sels" or (op != "sel" and k.rng.random() < 0.5):
        kind = u.kind.lstrip("U") if is_int(u.kind) else u.kind
        value = int(k.rng.integers(0, 9)) if is_int(kind) else float(k.rng.integers(-9, 9)) / 4
        other, error = np.full(u.data.shape, value, KINDS[u.kind]), np.zeros(u.data.shape)
        text = f"pl.tile.sels({mask}, {p}, {name}, pl.const({value}, pl.{kind}))"
    else:
        q, w = k.pick(lambda t: t.like(x))
        other, error = w.data, w.error
        uses.append(q)
        text = f"pl.tile.sel({mask}, {p}, {q}, {name})"
    k.add(text, uses + [p], Tile(x.kind, np.where(holds, u.data, other), x.valid, np.where(holds, u.error, error)), before)
