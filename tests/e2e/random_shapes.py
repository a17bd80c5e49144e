"""Statements that reduce, repeat, move, make and look at elements, and those with indices."""
import numpy as np

from random_elements import NAMES
from random_table import makes
from random_values import (
    EPS, FLOATS, KINDS, LIBRARY, Reject, Scalar, Tile, arithmetic, computed, is_int, remainder, rounded, size_of, wide)


def spread(shape, values, errors):
    """The values at the origin of a tile of the shape."""
    data, error = np.zeros(shape, values.dtype), np.zeros(shape)
    data[:values.shape[0], :values.shape[1]], error[:values.shape[0], :values.shape[1]] = values, errors
    return data, error


@makes(*2 * [" ".join(f"{way}_{what}" for way in ("row", "col") for what in ("sum", "prod", "max", "min", "argmax", "argmin"))])
def reduce(k, op):
    way, what = op.split("_")
    kinds = ("FP32", "FP16", "INT32", "INT16") if op == "row_min" else KINDS
    a, x = k.pick(lambda t: t.data.shape[1] > 1 and t.data.shape[0] > 1 and t.kind in kinds and
                  (t.exact() or what in ("sum", "max", "min")))
    along = 1 if way == "row" else 0
    box, errors = wide(x)[:x.valid[0], :x.valid[1]], x.error_box()
    kind, error = x.kind, np.zeros(1)
    if what == "sum":
        v, error = box.sum(axis=along, keepdims=True), errors.sum(axis=along, keepdims=True)
        if x.kind in FLOATS:
            error = error + EPS[x.kind] * np.abs(box).sum(axis=along, keepdims=True) * (box.shape[along] - 1)
    elif what == "prod":
        v = box.prod(axis=along, keepdims=True)
        if x.kind in FLOATS:
            if np.abs(np.log2(np.abs(np.where(box == 0, 1, box)))).sum(axis=along).max() > 12:
                raise Reject  # what lies between may be too small or too large to be held
            error = EPS[x.kind] * np.abs(v) * box.shape[along]
    elif what.startswith("arg"):
        v, kind = np.expand_dims(getattr(np, what)(box, axis=along), along).astype(np.int64), "INT32"
    else:
        v, error = getattr(box, what)(axis=along, keepdims=True), errors.max(axis=along, keepdims=True)
    shape = (x.data.shape[0], 1) if way == "row" else (1, x.data.shape[1])
    data, error = spread(shape, rounded(kind, v), error)
    before, extra = [], ""
    if way == "row" or what.startswith("arg") or (what == "sum" and k.rng.random() < 0.5):
        before, extra = k.temporary(x.data.shape, x.kind)
    k.add(f"{k.op}({a}{extra})", [a], Tile(kind, data, v.shape, error), before)


@makes(*2 * [" ".join(f"{way}_expand{what}" for way in ("row", "col")
                       for what in ("", "_add", "_sub", "_mul", "_div", "_max", "_min", "_expdif"))])
def expand(k, op):
    way, what = op[:3], op[11:]
    axis, other = (1, 0) if way == "row" else (0, 1)
    kinds = ("FP32", "FP16") if what == "div" else FLOATS if what == "expdif" else \
        ("INT8", "INT16", "INT32", "FP16", "FP32") if op == "row_expand_add" else KINDS
    b, y = k.pick(lambda t: t.data.shape[axis] == 1 and t.data.size > 1 and t.kind in kinds)
    a, x = k.pick(lambda t: t.kind == y.kind and t.data.shape[axis] > 1 and t.data.shape[other] == y.data.shape[other] and
                  t.valid[other] == y.valid[other])
    if not what:
        value = Tile(x.kind, np.broadcast_to(y.data, x.data.shape).copy(), x.valid,
                     np.broadcast_to(y.error, x.data.shape).copy())
    elif what == "expdif":
        if not (x.exact() and y.exact()):
            raise Reject
        power = wide(Tile(x.kind, rounded(x.kind, wide(x) - wide(y)), x.valid))
        if np.abs(power[:x.valid[0], :x.valid[1]]).max() > 8:
            raise Reject
        power = np.clip(np.nan_to_num(power), -8, 8)
        value = computed(x.kind, np.exp(power), 2 * LIBRARY[x.kind] * np.exp(power), x)
    else:
        if what == "div" and ((y.box() == 0).any() or not (x.exact() and y.exact())):
            raise Reject
        exact, error = arithmetic(NAMES.get(what, what), wide(x), wide(y), x.error, y.error)
        value = computed(x.kind, exact, error, x)
    k.add(f"{k.op}({a}, {b})", [a, b], value)


@makes("load")
def load(k, op):
    k.load(clamp=k.rng.random() < 0.15)


@makes(tensor="slice")
def load_tensor(k, op):
    k.load()


@makes("slice extract", "slice")
def window(k, op):
    a, x = k.pick(lambda t: t.full() and t.data.shape[1] > 1 and t.data.shape[0] > 1)
    rows = int(k.rng.integers(1, x.data.shape[0] + 1))
    r = int(k.rng.integers(0, x.data.shape[0] - rows + 1))
    step = 32 // size_of(x.kind)
    cols = x.data.shape[1]
    if cols > step:
        cols = int(k.rng.integers(1, cols // step + 1)) * step
    c = 0 if cols == x.data.shape[1] else int(k.rng.integers(0, (x.data.shape[1] - cols) // step + 1)) * step
    at = np.s_[r:r + rows, c:c + cols]
    text = f"[{rows}, {cols}], [{r}, {c}]" if op == "slice" else f"{r}, {c}, [{rows}, {cols}], target_memory=pl.Mem.Vec"
    k.add(f"{k.op}({a}, {text})", [a], Tile(x.kind, x.data[at].copy(), None, x.error[at].copy(), x.view))


@makes("transpose", "transpose")
def transpose(k, op):
    a, x = k.pick(lambda t: t.full() and t.data.shape[0] > 1 and t.data.shape[1] > 1)
    turned = k.level == "tensor" and not x.columns
    k.add(f"{k.op}({a}, 0, 1)", [a], Tile(x.kind, x.data.T.copy(), None, x.error.T.copy(), k.level == "tensor", turned))


@makes("transpose_view")
def transpose_view(k, op):
    """Of a copy; what it gives lies by columns."""
    a, x = k.pick(lambda t: t.full() and t.data.shape[0] > 1 and t.data.shape[1] > 1)
    copy = k.fresh("c")
    k.add(f"{k.op}({copy})", [a], Tile(x.kind, x.data.T.copy(), None, x.error.T.copy(), True),
          [f"{copy} = pl.tile.move({a}, target_memory=pl.Mem.Vec)"])


@makes("reshape", "reshape")
def reshape(k, op):
    a, x = k.pick(lambda t: t.full() and t.data.shape[1] > 1 and t.data.size % 16 == 0 and t.aligned())
    counts = [n for n in (8, 16, 32, 64) if x.data.size % n == 0 and n * size_of(x.kind) % 32 == 0 and x.data.size // n <= 64]
    if not counts:
        raise Reject
    cols = k.choice(counts)
    shape = (x.data.size // cols, cols)
    k.add(f"{k.op}({a}, [{shape[0]}, {shape[1]}])", [a],
          Tile(x.kind, x.data.reshape(shape).copy(), None, x.error.reshape(shape).copy(), x.view))


@makes("concat", "concat")
def concat(k, op):
    a, x = k.pick(lambda t: t.full() and 1 < t.data.shape[1] <= 32)
    b, y = k.pick(lambda t: t.full() and 1 < t.data.shape[1] <= 32 and t.kind == x.kind and
                  t.data.shape[0] == x.data.shape[0])
    k.add(f"{k.op}({a}, {b})", [a, b], Tile(x.kind, np.concatenate([x.data, y.data], 1), None,
                                            np.concatenate([x.error, y.error], 1)))


@makes("assemble")
def assemble(k, op):
    """Into a copy, so that the target stays what it was."""
    a, x = k.pick(lambda t: t.full() and t.data.shape[0] > 1 and t.aligned())
    b, y = k.pick(lambda t: t.full() and t.kind == x.kind and t.aligned() and t.data.shape[0] <= x.data.shape[0] and
                  t.data.shape[1] <= x.data.shape[1])
    step = 32 // size_of(x.kind)
    r = int(k.rng.integers(0, x.data.shape[0] - y.data.shape[0] + 1))
    c = int(k.rng.integers(0, (x.data.shape[1] - y.data.shape[1]) // step + 1)) * step
    copy = k.fresh("c")
    data, error = x.data.copy(), x.error.copy()
    data[r:r + y.data.shape[0], c:c + y.data.shape[1]] = y.data
    error[r:r + y.data.shape[0], c:c + y.data.shape[1]] = y.error
    k.add(f"{k.op}({copy}, {b}, [{r}, {c}])", [a, b], Tile(x.kind, data, None, error),
          [f"{copy} = pl.tile.move({a}, target_memory=pl.Mem.Vec)"])


@makes("move")
def move(k, op):
    a, x = k.pick(lambda t: t.data.shape[1] > 1)
    k.add(f"{k.op}({a}, target_memory=pl.Mem.Vec)", [a], x)


def pad_of(k, kind):
    name = k.choice(["zero", "max", "min"])
    if name == "zero" or kind in FLOATS:  # infinities would spoil what follows
        return "zero", 0
    info = np.iinfo(KINDS[kind])
    return name, info.max if name == "max" else info.min


@makes("fillpad fillpad_inplace fillpad_expand", "fillpad fillpad_expand")
def fillpad(k, op):
    a, x = k.pick(lambda t: (not t.full() or op == "fillpad_expand") and t.data.shape[1] > 1 and t.data.shape[0] > 1)
    name, pad = pad_of(k, x.kind)
    shape = x.data.shape
    before, source, text = [], a, ""
    if op == "fillpad_expand":
        shape = (shape[0] + int(k.rng.integers(0, 5)), shape[1] + int(k.rng.integers(0, 3)) * (32 // size_of(x.kind)))
        text = f", [{shape[0]}, {shape[1]}]"
    elif op == "fillpad_inplace":
        source = k.fresh("c")
        before = [f"{source} = pl.tile.move({a}, target_memory=pl.Mem.Vec)"]
    data, error = np.full(shape, pad, KINDS[x.kind]), np.zeros(shape)
    data[:x.valid[0], :x.valid[1]], error[:x.valid[0], :x.valid[1]] = x.box(), x.error_box()
    k.add(f"{k.op}({source}{text}, pad_value=pl.PadValue.{name})", [a],
          Tile(x.kind, data, None, error, k.level == "tensor"), before)


@makes("set_validshape")
def narrow(k, op):
    a, x = k.pick(lambda t: t.full() and t.data.shape[0] > 1 and t.data.shape[1] > 1)
    valid = (int(k.rng.integers(1, x.data.shape[0] + 1)), int(k.rng.integers(1, x.data.shape[1] + 1)))
    copy = k.fresh("c")
    k.add(f"{k.op}({copy}, {valid[0]}, {valid[1]})", [a], Tile(x.kind, x.data, valid, x.error),
          [f"{copy} = pl.tile.move({a}, target_memory=pl.Mem.Vec)"])


@makes("full expands", "full expands")
def constant(k, op):
    if op == "expands":
        a, x = k.pick(lambda t: t.data.shape[1] > 1)
        kind, shape, valid, uses = x.kind, x.data.shape, x.valid, [a]
    else:
        kind, shape, valid, uses = k.choice(list(KINDS)), k.shape, None, []
    value = float(k.rng.integers(-9, 10)) / 2 if kind in FLOATS else int(k.rng.integers(0 if kind[0] == "U" else -9, 10))
    text = f"{uses[0]}, pl.const({value}, pl.{kind})" if uses else f"[{shape[0]}, {shape[1]}], dtype=pl.{kind}, value={value}"
    k.add(f"{k.op}({text})", uses, Tile(kind, np.full(shape, value, KINDS[kind]), valid))


@makes("ci", "ci")
def ci(k, op):
    kind = k.choice(["INT16", "INT32", "UINT16", "UINT32"])
    start, cols, down = int(k.rng.integers(0, 100)), k.choice([16, 32]), bool(k.rng.integers(2))
    data = rounded(kind, (start - np.arange(cols) if down else start + np.arange(cols))[None])
    k.add(f"{k.op}(pl.const({start}, pl.{kind}), [1, {cols}], dtype=pl.{kind}, descending={down})", [], Tile(kind, data))


@makes("tri")
def tri(k, op):
    kind = k.choice([name for name in KINDS if not name.endswith("64")])
    diagonal, upper = int(k.rng.integers(-5, 6)), bool(k.rng.integers(2))
    i, j = np.indices(k.shape)
    ones = j >= i + diagonal if upper else j <= i + diagonal
    k.add(f"{k.op}({diagonal}, [{k.shape[0]}, {k.shape[1]}], dtype=pl.{kind}, upper={upper})", [],
          Tile(kind, ones.astype(KINDS[kind])))


@makes("read", "read")
def read(k, op):
    a, x = k.pick(lambda t: t.exact())
    r, c = int(k.rng.integers(0, x.valid[0])), int(k.rng.integers(0, x.valid[1]))
    value = x.data[r, c]
    if is_int(x.kind) and not -1000 < int(value) < 1000:
        raise Reject
    k.add(f"{k.op}({a}, [{r}, {c}])", [a], Scalar(x.kind, int(value) if is_int(x.kind) else float(value)))


@makes("write")
def write(k, op):
    a, x = k.pick(lambda t: t.full())
    names = [n for n, s in k.scalars.items() if s.kind == x.kind]
    text = k.choice(names) if names else f"pl.const({5 if is_int(x.kind) else 1.25}, pl.{x.kind})"
    value = k.scalars[text].value if names else 5 if is_int(x.kind) else 1.25
    r, c = int(k.rng.integers(0, x.valid[0])), int(k.rng.integers(0, x.valid[1]))
    data, error = x.data.copy(), x.error.copy()
    data[r, c], error[r, c] = rounded(x.kind, [value])[0], 0
    copy = k.fresh("c")
    k.add(f"{k.op}({copy}, [{r}, {c}], {text})", [a] + ([text] if names else []), Tile(x.kind, data, x.valid, error),
          [f"{copy} = pl.tile.move({a}, target_memory=pl.Mem.Vec)"])


@makes("reinterpret_view", "reinterpret_view")
def reinterpret(k, op):
    a, x = k.pick(lambda t: t.full() and t.exact() and is_int(t.kind) and t.data.shape[1] > 1 and t.data.shape[0] > 1 and
                  t.aligned())
    to = k.choice([n for n in KINDS if n != x.kind and is_int(n)])
    # Of a transposed tensor the columns follow each other in memory.
    data = x.data.T if x.columns else x.data
    if data.shape[1] * size_of(x.kind) % 32:
        raise Reject
    data = np.ascontiguousarray(data).view(KINDS[to])
    k.add(f"{k.op}({a}, dtype=pl.{to})", [a], Tile(to, (data.T if x.columns else data).copy(), view=x.view, columns=x.columns))


@makes("get_block_idx get_block_num get_subblock_idx", "get_block_idx get_block_num get_subblock_idx")
def identity(k, op):
    """One block with one lane: 0, 1, 0."""
    name = k.fresh("b")
    k.add(f"pl.cast({name}, pl.INT32)", [], Scalar("INT32", 1 if op == "get_block_num" else 0), [f"{name} = {k.op}()"])


# ---- indices

def indices(k, shape, kind, below, unique=False):
    """A tile of indices: random numbers that a kernel computes from a tile of its input."""
    source = k.inputs[kind]
    if shape[0] > source.shape[0] or shape[1] > source.shape[1]:
        raise Reject
    r, c = int(k.rng.integers(0, source.shape[0] - shape[0] + 1)), int(k.rng.integers(0, source.shape[1] - shape[1] + 1))
    part = source[r:r + shape[0], c:c + shape[1]].astype(np.int64)
    loaded, masked, name = k.fresh(), k.fresh(), k.fresh()
    data = remainder(part & 4095, np.int64(below) + 0 * part)
    lines = [f"{loaded} = " + k.loaded(kind, f"{r}, {c}", shape), f"{masked} = pl.{k.level}.ands({loaded}, 4095)",
             f"{name} = pl.{k.level}.fmods({masked}, {below})"]
    k.declare(name, lines, [], Tile(kind, data.astype(KINDS[kind])))
    return name, data


@makes("gather")
def gather(k, op):
    a, x = k.pick(lambda t: t.full() and t.kind in ("FP32", "FP16", "INT32", "INT16") and t.data.shape[1] > 1)
    kind = "INT16" if size_of(x.kind) == 2 and k.rng.random() < 0.5 else "INT32"
    b, index = indices(k, (int(k.rng.integers(1, 9)), k.choice([16, 32])), kind, x.data.size)
    name, line = k.scratch(index.shape, kind)
    k.add(f"{k.op}({a}, {b}, {name})", [a, b],
          Tile(x.kind, x.data.ravel()[index], None, x.error.ravel()[index]), [line])


@makes("scatter")
def scatter(k, op):
    """The last of several writes to one place counts."""
    a, x = k.pick(lambda t: t.full() and t.kind in ("FP32", "FP16", "BF16", "INT32", "INT16") and t.data.shape[1] > 1)
    b, y = k.pick(lambda t: t.full() and t.kind == x.kind and t.data.shape[1] > 1 and t.data.shape[0] <= 40)
    i, index = indices(k, y.data.shape, "INT32" if size_of(x.kind) == 4 else "INT16", x.data.size)
    data, error = x.data.copy().ravel(), x.error.copy().ravel()
    for at, value, e in zip(index.ravel(), y.data.ravel(), y.error.ravel()):
        data[at], error[at] = value, e
    copy = k.fresh("c")
    k.add(f"{k.op}({copy}, {b}, {i})", [a, b, i], Tile(x.kind, data.reshape(x.data.shape), None, error.reshape(x.data.shape)),
          [f"{copy} = pl.tile.move({a}, target_memory=pl.Mem.Vec)"])


MARKED = {1: (2, 0), 2: (2, 1), 3: (4, 0), 4: (4, 1), 5: (4, 2), 6: (4, 3), 7: (1, 0)}


@makes("gather_mask", "gather_mask")
def gather_mask(k, op):
    pattern = int(k.rng.integers(1, 8))
    step, first = MARKED[pattern]
    a, x = k.pick(lambda t: t.full() and t.kind in ("FP32", "FP16", "INT32", "INT16") and t.data.shape[1] >= 8 and
                  t.data.shape[1] % step == 0 and t.data.shape[1] // step * size_of(t.kind) % 32 == 0)
    k.add(f"{k.op}({a}, mask_pattern={pattern})", [a],
          Tile(x.kind, x.data[:, first::step].copy(), None, x.error[:, first::step].copy()))


@makes("gatherb")
def gatherb(k, op):
    """Runs of 32 bytes of the first row."""
    a, x = k.pick(lambda t: t.full() and t.data.shape[1] > 1 and t.aligned())
    width = 32 // size_of(x.kind)
    runs = x.data.size // width
    b, index = indices(k, (1, 8), "UINT32", runs)
    offset = k.fresh()
    k.add(f"{k.op}({a}, {offset})", [a, b], Tile(
        x.kind, x.data.reshape(runs, width)[index.ravel()].reshape(1, -1), None,
        x.error.reshape(runs, width)[index.ravel()].reshape(1, -1)), [f"{offset} = pl.tile.muls({b}, 32)"])


@makes("scatter_mask")
def scatter_mask(k, op):
    a, x = k.pick(lambda t: t.full() and t.kind in ("FP32", "FP16", "INT32", "INT16") and t.data.shape[1] > 1 and t.aligned())
    pattern = int(k.rng.integers(1, 8))
    step, first = MARKED[pattern]
    b, y = k.pick(lambda t: t.full() and t.kind == x.kind and t.data.shape[0] == x.data.shape[0] and
                  t.data.shape[1] == x.data.shape[1] * step)
    data, error = y.data.copy(), y.error.copy()
    data[:, first::step], error[:, first::step] = x.data, x.error
    copy = k.fresh("c")
    k.add(f"{k.op}({copy}, {a}, mask_pattern={pattern})", [a, b], Tile(x.kind, data, None, error),
          [f"{copy} = pl.tile.move({b}, target_memory=pl.Mem.Vec)"])


@makes("mgather")
def mgather(k, op):
    kind = k.choice(["FP32", "FP16", "INT32", "INT16"])
    source = k.inputs[kind]
    b, index = indices(k, (1, k.choice([8, 16])), "INT32", source.size)
    k.add(f"{k.op}({kind.lower()}, {b}, coalesce='elem', gather_oob='{k.choice(['clamp', 'wrap', 'zero'])}')", [b],
          Tile(kind, source.ravel()[index]))


@makes("gather_row")
def gather_row(k, op):
    a, x = k.pick(lambda t: t.full() and t.data.shape[0] > 1 and t.data.shape[1] > 1 and t.aligned() and
                  t.data.shape[0] <= 40 and t.data.shape[1] <= 64)
    rows, r = int(k.rng.integers(1, x.data.shape[0] + 1)), int(k.rng.integers(0, 40))
    rows = min(rows, 40 - r)
    at = int(k.rng.integers(0, x.data.shape[0] - rows + 1))
    cols = x.data.shape[1]
    data, error = x.data.copy(), x.error.copy()
    data[at:at + rows], error[at:at + rows] = k.inputs[x.kind][r:r + rows, :cols], 0
    copy = k.fresh("c")
    k.add(f"{k.op}({copy}, {x.kind.lower()}, [{at}, 0], [{r}, 0], [{rows}, {cols}])", [a], Tile(x.kind, data, None, error),
          [f"{copy} = pl.tile.move({a}, target_memory=pl.Mem.Vec)"])


@makes("sort32", "sort32")
def sort(k, op):
    """Values in order at the even places, their indices, seen as integers, at the odd ones."""
    a, x = k.pick(lambda t: t.full() and t.exact() and t.kind == "FP32" and t.data.shape[1] == 32)
    index = np.broadcast_to(np.arange(32, dtype=np.uint32), x.data.shape)
    row, many, out = k.fresh(), k.fresh(), k.fresh("p")
    order = np.argsort(-x.data.astype(np.float64), axis=1, kind="stable")
    pairs = np.empty((x.data.shape[0], 64), np.uint32)
    pairs[:, 0::2] = np.take_along_axis(x.data, order, 1).view(np.uint32) if x.data.size else 0
    pairs[:, 1::2] = np.take_along_axis(index, order, 1)
    if (x.data == 0).any():  # zeros of both signs are equal, but not as bits
        raise Reject
    zeros = k.fresh("w")
    k.add(f"pl.{k.level}.reinterpret_view({out}, dtype=pl.UINT32)", [a], Tile("UINT32", pairs), [
        f"{row} = pl.{k.level}.ci(pl.const(0, pl.UINT32), [1, 32], dtype=pl.UINT32)",
        f"{zeros} = pl.{k.level}.full([{x.data.shape[0]}, 32], dtype=pl.UINT32, value=0)",
        f"{many} = pl.{k.level}.col_expand({zeros}, {row})", f"{out} = {k.op}({a}, {many})"])


# ---- products

def cube_product(k, op, rows, cols, depth):
    """A product of parts of the inputs, alone, onto itself or with a bias, as `op` says: the variable of the accumulator, its
    dtype, the values and the statements. Every sum is exact, since the inputs are small multiples of 1/8."""
    kind = k.choice(["FP32", "FP16", "BF16", "INT8"])
    acc = "INT32" if kind == "INT8" else "FP32"
    lines = []

    def moved(source, row, column, shape, space):
        loaded, name = k.fresh("l"), k.fresh("l")
        lines.extend([f"{loaded} = pl.load({source}, [{row}, {column}], {list(shape)}, target_memory=pl.Mem.Mat)",
                      f"{name} = pl.tile.move({loaded}, target_memory=pl.Mem.{space})"])
        return name

    sides = []
    for shape, space in (((rows, depth), "Left"), ((depth, cols), "Right")):
        r, c = int(k.rng.integers(0, 40 - shape[0] + 1)), int(k.rng.integers(0, 72 - shape[1] + 1))
        part = k.inputs[kind][r:r + shape[0], c:c + shape[1]]
        sides.append((moved(kind.lower(), r, c, shape, space), part.astype(np.float64 if kind in FLOATS else np.int64)))
    (a, x), (b, y) = sides
    product, out, text = x @ y, k.fresh("l"), f"{k.op}({a}, {b})"
    plain, _, more = op.partition("_")
    if more == "bias":
        c = int(k.rng.integers(0, 72 - cols + 1))
        text = f"{k.op}({a}, {b}, {moved(acc.lower(), 3, c, (1, cols), 'Bias')})"
        product = product + k.inputs[acc][3:4, c:c + cols]
    elif more == "acc":
        first = k.fresh("l")
        lines.append(f"{first} = pl.tile.{plain}({a}, {b})")
        product, text = product * 2, f"{k.op}({first}, {a}, {b})"
    lines.append(f"{out} = {text}")
    return out, acc, rounded(acc, product), lines


@makes("matmul matmul_acc matmul_bias")
def matmul(k, op):
    out, acc, product, lines = cube_product(k, op, *(int(k.choice([4, 16, 17, 32])) for _ in range(3)))
    # An accumulator that is moved as it is keeps its boxes in the type.
    rows = k.choice(["", ", blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box"])
    k.add(f"pl.tile.move({out}, target_memory=pl.Mem.Vec{rows})", [], Tile(acc, product), lines)
