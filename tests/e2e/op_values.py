"""Values for the tests of operations, and the arithmetic of ops.md on them, with numpy."""
import numpy as np

from op_batch import FLOATS, STORAGE, Result, decode, encode, is_int, width_of

INTS = ["INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"]
REAL = ["FP32", "FP16", "BF16"]
NUMERIC = REAL + INTS
TOLERANCE = {"FP32": 1e-6, "FP16": 1e-3, "BF16": 8e-3}


def limits(dtype):
    info = np.iinfo(STORAGE[dtype])
    return int(info.min), int(info.max)


def wrapped(values, dtype):
    """Python integers modulo 2^width as stored elements."""
    return encode(np.asarray(values, object), dtype)


def sample(dtype, shape, seed, nonzero=False, bound=None):
    """Stored elements: numbers whose sums and products need rounding, extremes of integers."""
    rng = np.random.default_rng(seed)
    if dtype == "BOOL":
        return rng.integers(0, 2, shape).astype(bool)
    if is_int(dtype):
        low, high = limits(dtype)
        if bound is not None:
            low, high = max(low, -bound), min(high, bound)
        edge = np.array([low, high, 0, 1, low + 1, high // 2], object)
        values = np.array([int(v) for v in rng.integers(low, high, int(np.prod(shape)), endpoint=True,
                                                        dtype=STORAGE[dtype])], object)
        n = min(len(edge), len(values)) if bound is None else 0
        values[:n] = edge[:n]
        if nonzero:
            values[values == 0] = 3
        return wrapped(values.reshape(shape), dtype)
    values = rng.normal(0, 4, shape)
    if bound is not None:
        values = np.clip(values, -bound, bound)
    if nonzero:
        values = np.where(np.abs(values) < 0.25, 1.5, values)
    return encode(values, dtype)


def real(stored, dtype):
    """Operands as numbers that numpy computes with exactly: Python integers or double."""
    return np.array([int(v) for v in np.ravel(stored)], object).reshape(np.shape(stored)) if is_int(dtype) else \
        decode(stored, dtype)


def each(function, *arrays):
    """Applies a function of Python numbers, broadcasting."""
    arrays = np.broadcast_arrays(*arrays)
    out = np.empty(arrays[0].shape, object)
    for at in np.ndindex(out.shape):
        out[at] = function(*(a[at] for a in arrays))
    return out


def once(exact, dtype):
    """An exact (or double) result, rounded to the dtype. Double has more than twice the bits of the others, so the second
    rounding does no harm to + - * / and sqrt."""
    return wrapped(exact, dtype) if is_int(dtype) else encode(np.asarray(exact, np.float64), dtype)


def trunc_div(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def quotient(a, b, dtype):
    with np.errstate(all="ignore"):
        return each(trunc_div, a, b) if is_int(dtype) else a / b


def c_fmod(a, b, dtype):
    with np.errstate(all="ignore"):
        return each(lambda x, y: x - y * trunc_div(x, y), a, b) if is_int(dtype) else np.fmod(a, b)


def py_rem(a, b, dtype):
    return each(lambda x, y: x % y, a, b) if is_int(dtype) else np.where(
        (r := np.fmod(a, b)) * b < 0, r + b, r)


BINARY = {
    "add": lambda a, b, d: a + b, "sub": lambda a, b, d: a - b, "mul": lambda a, b, d: a * b, "div": quotient,
    "fmod": c_fmod, "rem": py_rem,
    "maximum": lambda a, b, d: np.where(a < b, b, a), "minimum": lambda a, b, d: np.where(b < a, b, a),
    "and_": lambda a, b, d: each(lambda x, y: x & y, a, b), "or_": lambda a, b, d: each(lambda x, y: x | y, a, b),
    "xor": lambda a, b, d: each(lambda x, y: x ^ y, a, b),
    "shl": lambda a, b, d: each(lambda x, y: x << y, a, b), "shr": lambda a, b, d: each(lambda x, y: x >> y, a, b),
}
SCALAR_NAMES = {"and_": "ands", "or_": "ors"}
DIVIDING = ("div", "fmod", "rem")
NEEDS_TMP = ("rem", "xor")
BITWISE = ("and_", "or_", "xor", "shl", "shr")


def dtypes_of(op):
    if op == "div":
        return ["INT16", "INT32", "FP16", "FP32"]
    return INTS if op in BITWISE else NUMERIC


SHAPES = {8: (3, 32), 4: (3, 16), 2: (3, 32), 1: (3, 32)}


def shape_of(dtype):
    return SHAPES[width_of(dtype)]


def scratch(k, shape, dtype):
    return k.let(f"pl.tile.create({list(shape)}, dtype=pl.{dtype})", "tmp")


def inside(shape, valid):
    mask = np.zeros(shape, bool)
    mask[tuple(slice(0, n) for n in valid)] = True
    return mask


def only(expected, dtype, valid):
    """A stored result: what is outside of the valid box has not been written."""
    mask = inside(expected.shape, valid)
    return Result(np.where(mask, expected, np.zeros_like(expected)), dtype)


def literal(value, dtype):
    return f"pl.const({float(value)!r}, pl.{dtype})" if dtype in FLOATS else f"pl.const({int(value)}, pl.{dtype})"
