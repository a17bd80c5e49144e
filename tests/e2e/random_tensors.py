"""Statements of tensor kernels whose tile form is another operation, and products of one row."""
import numpy as np

from random_elements import COMPARE
from random_shapes import cube_product, indices
from random_table import makes
from random_values import FLOATS, KINDS, Reject, Scalar, Tile, computed, is_int, rounded


def copied(k, a, x):
    """A value of its own, which may be written: the statement and its name."""
    copy = k.fresh("c")
    if k.level == "tile":
        return f"{copy} = pl.tile.move({a}, target_memory=pl.Mem.Vec)", copy
    one = "1.0" if x.kind in FLOATS else "1"
    return f"{copy} = pl.tensor.muls({a}, pl.const({one}, pl.{x.kind}))", copy


@makes(tensor="matmul matmul_acc")
def product(k, op):
    """Of parts of the inputs, as they are or transposed; sums are exact, and rounded once."""
    kind = k.choice(["FP32", "FP16", "BF16", "INT8"])
    acc = "INT32" if kind == "INT8" else "FP32"
    m, n, depth = (int(k.choice([4, 16, 17, 32])) for _ in range(3))
    lines, sides, flags = [], [], ""
    for rows, cols, flag in ((m, depth, "a_trans"), (depth, n, "b_trans")):
        turned = k.rng.random() < 0.3
        shape = (cols, rows) if turned else (rows, cols)
        r, c = int(k.rng.integers(0, 40 - shape[0] + 1)), int(k.rng.integers(0, 72 - shape[1] + 1))
        name = k.fresh("l")
        lines.append(f"{name} = pl.tensor.slice({kind.lower()}, [{shape[0]}, {shape[1]}], [{r}, {c}])")
        part = k.inputs[kind][r:r + shape[0], c:c + shape[1]].astype(np.float64 if kind in FLOATS else np.int64)
        sides.append((name, part.T if turned else part))
        flags += f", {flag}=True" if turned else ""
    (a, x), (b, y) = sides
    exact = x @ y
    if op == "matmul_acc":
        first = k.fresh("l")
        lines.append(f"{first} = pl.tensor.matmul({a}, {b}, out_dtype=pl.{acc}{flags})")
        return k.add(f"{k.op}({first}, {a}, {b}{flags})", [], Tile(acc, rounded(acc, 2 * exact)), lines)
    out = acc if kind == "INT8" else k.choice([acc, kind])
    typed = f", out_dtype=pl.{out}" if out != kind or kind == "INT8" or k.rng.random() < 0.5 else ""
    return k.add(f"{k.op}({a}, {b}{typed}{flags})", [], Tile(out, rounded(out, rounded(acc, exact))), lines)


@makes("gemv gemv_acc gemv_bias")
def row_product(k, op):
    n, depth = int(k.choice([16, 32])), int(k.choice([16, 32]))
    out, acc, product, lines = cube_product(k, op, 1, n, depth)
    # The accumulator has 16 rows, of which one is valid.
    data = np.zeros((16, n), KINDS[acc])
    data[:1] = product
    k.add(f"pl.tile.move({out}, target_memory=pl.Mem.Vec)", [], Tile(acc, data, (1, n)), lines)


@makes(tensor="dim")
def dim(k, op):
    a, x = k.pick()
    axis = int(k.rng.integers(-2, 2))
    name = k.fresh("d")
    k.add(f"pl.cast({name}, pl.INT32)", [a], Scalar("INT32", x.data.shape[axis]), [f"{name} = {k.op}({a}, {axis})"])


@makes(tensor="write")
def write(k, op):
    a, x = k.pick(lambda t: t.full() and not t.view)
    value = int(k.rng.integers(0, 9)) if is_int(x.kind) else float(k.rng.integers(-9, 9)) / 4
    r, c = int(k.rng.integers(0, x.data.shape[0])), int(k.rng.integers(0, x.data.shape[1]))
    data, error = x.data.copy(), x.error.copy()
    data[r, c], error[r, c] = value, 0
    line, copy = copied(k, a, x)
    k.add(f"{k.op}({copy}, [{r}, {c}], pl.const({value}, pl.{x.kind}))", [a], Tile(x.kind, data, None, error), [line])


@makes(tensor="set_validshape")
def narrow(k, op):
    a, x = k.pick(lambda t: t.full() and not t.view and t.data.shape[0] > 1 and t.data.shape[1] > 1)
    valid = (int(k.rng.integers(1, x.data.shape[0] + 1)), int(k.rng.integers(1, x.data.shape[1] + 1)))
    line, copy = copied(k, a, x)
    k.add(f"{k.op}({copy}, {valid[0]}, {valid[1]})", [a], Tile(x.kind, x.data, valid, x.error, True), [line])


@makes(tensor="view")
def view(k, op):
    a, x = k.pick(lambda t: t.full() and not t.view and t.data.shape[1] > 1 and t.data.size % 16 == 0 and t.aligned())
    counts = [n for n in (8, 16, 32, 64) if x.data.size % n == 0 and n * KINDS[x.kind]().itemsize % 32 == 0 and
              x.data.size // n <= 64]
    if not counts or x.kind == "BF16":
        raise Reject
    cols = k.choice(counts)
    shape = (x.data.size // cols, cols)
    k.add(f"{k.op}({a}, [{shape[0]}, {shape[1]}])", [a],
          Tile(x.kind, x.data.reshape(shape).copy(), None, x.error.reshape(shape).copy(), True))


@makes(tensor="cmp")
def cmp(k, op):
    a, x = k.pick(lambda t: t.exact() and t.full() and t.kind in ("FP32", "FP16", "INT32", "INT16"))
    b, y = k.pick(lambda t: t.exact() and t.like(x))
    number = int(k.rng.integers(6))
    k.add(f"{k.op}({a}, {b}, cmp_type={number})", [a, b], computed(x.kind, COMPARE[number](x.data, y.data), x.error, x))


@makes(tensor="create")
def create(k, op):
    """Memory that is filled by halves."""
    a, x = k.pick(lambda t: t.full() and not t.view and t.data.shape[0] > 1 and t.data.shape[1] > 1)
    rows, cols = x.data.shape
    top = int(k.rng.integers(1, rows))
    made, half, upper, lower = (k.fresh("c") for _ in range(4))
    k.add(f"pl.tensor.assemble({half}, {lower}, [{top}, 0])", [a], Tile(x.kind, x.data.copy(), None, x.error.copy()), [
        f"{made} = {k.op}([{rows}, {cols}], dtype=pl.{x.kind})",
        f"{upper} = pl.tensor.slice({a}, [{top}, {cols}], [0, 0])",
        f"{lower} = pl.tensor.slice({a}, [{rows - top}, {cols}], [{top}, 0])",
        f"{half} = pl.tensor.assemble({made}, {upper}, [0, 0])"])


@makes(tensor="gather")
def gather(k, op):
    """Along the rows, or down the columns."""
    across = k.rng.random() < 0.4
    kinds = ("FP32", "INT32") if across else ("FP32", "FP16", "INT32", "INT16")
    a, x = k.pick(lambda t: t.full() and not t.view and t.kind in kinds and t.data.shape[1] > 1)
    rows, cols = x.data.shape
    axis = 0 if across else 1
    shape = (int(k.rng.integers(1, 9)), int(k.choice([n for n in (1, 8, 16, cols) if n <= cols]))) if across else \
        (rows, k.choice([8, 16, 32]))
    b, index = indices(k, shape, "INT32", x.data.shape[axis])
    part = np.s_[:, :shape[1]] if across else np.s_[:]
    k.add(f"{k.op}({a}, {b}, dim={axis - 2 if k.rng.random() < 0.5 else axis})", [a, b],
          Tile(x.kind, np.take_along_axis(x.data[part], index, axis), None, np.take_along_axis(x.error[part], index, axis)))


@makes(tensor="scatter")
def scatter(k, op):
    a, x = k.pick(lambda t: t.full() and not t.view and t.kind in ("FP32", "INT32") and t.data.shape[1] > 1)
    b, y = k.pick(lambda t: t.full() and not t.view and t.kind == x.kind and t.data.shape[0] == x.data.shape[0] and
                  1 < t.data.shape[1] <= x.data.shape[1])
    i, index = indices(k, y.data.shape, "INT32", x.data.shape[1])
    data, error = x.data.copy(), x.error.copy()
    for r, c in np.ndindex(index.shape):
        data[r, index[r, c]], error[r, index[r, c]] = y.data[r, c], y.error[r, c]
    line, copy = copied(k, a, x)
    k.add(f"{k.op}({copy}, {i}, {b}, dim=-1)", [a, b, i], Tile(x.kind, data, None, error), [line])


@makes("scatter_update", tensor="scatter_update")
def scatter_update(k, op):
    """Whole rows; the last of several writes counts."""
    a, x = k.pick(lambda t: t.full() and not t.view and t.kind in ("FP32", "FP16", "INT32"))
    b, y = k.pick(lambda t: t.full() and not t.view and t.kind == x.kind and t.data.shape[1] == x.data.shape[1] and
                  t.data.shape[0] <= 16)
    i, index = indices(k, (1, y.data.shape[0]), "INT32", x.data.shape[0])
    data, error = x.data.copy(), x.error.copy()
    for row, at in enumerate(index[0]):
        data[at], error[at] = y.data[row], y.error[row]
    line, copy = copied(k, a, x)
    k.add(f"{k.op}({copy}, {i}, {b}, dim=-2)", [a, b, i], Tile(x.kind, data, None, error), [line])
