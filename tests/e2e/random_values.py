"""Values of random programs: tiles and scalars with what they should hold, and how far a program may be from it.

The error of an element is 0 where every operation rounds correctly, so that the result must be the very same, and a bound
where an order of additions or a library function is free. Statements that would turn a small difference into a large one
(casts, comparisons) take exact values only. BF16 is kept as the FP32 numbers that it can hold.
"""
import numpy as np

KINDS = {"FP32": np.float32, "FP16": np.float16, "BF16": np.float32, "INT64": np.int64, "INT32": np.int32,
         "INT16": np.int16, "INT8": np.int8, "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32,
         "UINT64": np.uint64}
FLOATS = ("FP32", "FP16", "BF16")
EPS = {"FP32": 2.0 ** -23, "FP16": 2.0 ** -10, "BF16": 2.0 ** -7}
LIBRARY = {"FP32": 2e-6, "FP16": 2e-3, "BF16": 1.2e-2}  # relative error of exp, log and the like


def size_of(kind):
    return 2 if kind == "BF16" else KINDS[kind]().itemsize


def is_int(kind):
    return kind not in FLOATS


def rounded(kind, values):
    """The values as the dtype holds them: floats to nearest even, integers modulo their width."""
    if kind == "BF16":
        with np.errstate(over="ignore"):
            bits = np.asarray(values).astype(np.float32).view(np.uint32).astype(np.uint64)
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
        return bits.astype(np.uint32).view(np.float32)
    if kind in FLOATS:
        with np.errstate(over="ignore"):
            return np.asarray(values).astype(KINDS[kind])
    values = np.asarray(values)
    return (values if values.dtype == np.uint64 else values.astype(np.int64)).astype(KINDS[kind])


def to_file(kind, data):
    """As .npy holds it: BF16 is 2 bytes without a name."""
    if kind != "BF16":
        return data
    return (np.ascontiguousarray(data).view(np.uint32) >> 16).astype(np.uint16).view("V2")


def from_file(kind, data):
    if kind != "BF16":
        return data
    return (data.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


class Reject(Exception):
    """This statement cannot be made here; the generator tries another."""


class Tile:
    def __init__(self, kind, data, valid=None, error=None, view=False, columns=False):
        self.kind, self.data = kind, np.asarray(data)
        self.valid = tuple(valid) if valid is not None else self.data.shape
        self.error = error if error is not None else np.zeros(self.data.shape)
        self.columns = columns  # a tensor whose columns, not rows, lie one after the other
        self.view = view  # a tensor whose type says more than its shape: no carry of another value's type
        inside = self.box()
        if kind in FLOATS and not np.isfinite(inside.astype(np.float64)).all():
            raise Reject
        if not np.isfinite(self.error[:self.valid[0], :self.valid[1]]).all():
            raise Reject

    def box(self):
        return self.data[:self.valid[0], :self.valid[1]]

    def error_box(self):
        return self.error[:self.valid[0], :self.valid[1]]

    def full(self):
        return self.valid == self.data.shape

    def exact(self):
        return not self.error.any()

    def like(self, other):
        return self.kind == other.kind and self.data.shape == other.data.shape and self.valid == other.valid

    def aligned(self):
        """Its rows are whole blocks of 32 bytes."""
        return self.data.shape[1] * size_of(self.kind) % 32 == 0


class Scalar:
    def __init__(self, kind, value):
        self.kind, self.value = kind, value


class Stmt:
    def __init__(self, name, lines, uses, op=""):
        self.name, self.lines, self.uses, self.op = name, lines, uses, op


def computed(kind, exact, error, like, slack=True):
    """A tile of rounded values; a result of inexact operands is also rounded differently."""
    data = rounded(kind, exact)
    if kind in FLOATS and error.any() and slack:
        error = error + EPS[kind] * np.abs(data.astype(np.float64))
    return Tile(kind, data, like.valid, error)


def wide(tile):
    """Numbers to compute with: a double rounds less than any float here, and integers wrap where their tiles do."""
    return tile.data.astype(np.float64 if tile.kind in FLOATS else np.uint64 if tile.kind == "UINT64" else np.int64)


def divided(a, b):
    """Of integers, towards zero; 0 where the divisor is 0 (such an element is not looked at)."""
    b = np.where(b == 0, b.dtype.type(1), b)
    quotient = np.floor_divide(a, b)  # downwards: the amount of the lowest INT64 is none
    return quotient + ((quotient * b != a) & ((a < 0) != (b < 0))).astype(a.dtype)


def remainder(a, b):
    """With the sign of the dividend."""
    if a.dtype.kind == "f":
        return np.fmod(a, np.where(b == 0, 1, b))
    return a - divided(a, b) * b


def modulus(a, b):
    """With the sign of the divisor."""
    r = remainder(a, b)
    return np.where((r != 0) & ((r < 0) != (b < 0)), r + b, r)


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
        bitwise = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "shl": np.left_shift,
                   "shr": np.right_shift}
        if op in bitwise:
            return bitwise[op](a, b.astype(a.dtype)), ea
        if ea.any() or eb.any():
            raise Reject
        if op == "div":
            return (a / np.where(b == 0, 1, b) if a.dtype.kind == "f" else divided(a, b)), ea
        return {"fmod": remainder, "rem": modulus}[op](a, b), ea
