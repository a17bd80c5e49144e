"""Cases beyond the examples: operations over all dtypes that ops.md allows, partial valid shapes, broadcasting, rounding
modes, special values; what they give is computed here with numpy."""
import numpy as np

from op_batch import FLOATS, STORAGE, Case, Result, decode, encode, is_int, width_of
from op_values import (
    BINARY, DIVIDING, NEEDS_TMP, NUMERIC, REAL, SCALAR_NAMES, TOLERANCE, dtypes_of, inside, limits, literal,
    once, only, quotient, real, sample, scratch, shape_of, wrapped)


def binary(op, dtype, seed):
    shape = shape_of(dtype)
    a = sample(dtype, shape, seed)
    b = sample(dtype, shape, seed + 1, op in DIVIDING)
    if op in ("shl", "shr"):
        b = wrapped(np.array(real(b, dtype) % (8 * width_of(dtype)), object), dtype)
    exact = BINARY[op](real(a, dtype), real(b, dtype), dtype)
    valid = (2, shape[1] - 3)

    def write(k):
        x, y = k.tile(a, dtype, valid), k.tile(b, dtype, valid)
        tmp = f", {scratch(k, shape, dtype)}" if op in NEEDS_TMP else ""
        k.store(k.let(f"pl.tile.{op}({x}, {y}{tmp})", "y"), only(once(exact, dtype), dtype, valid))
    return Case(f"tile.{op} {dtype} partial", f"tile.{op}", write)


def with_scalar(op, dtype, seed):
    shape = shape_of(dtype)
    name = SCALAR_NAMES.get(op, op + "s")
    a = sample(dtype, shape, seed)
    value = 3 if op in ("shl", "shr") else (7 if is_int(dtype) else 1.625)
    exact = BINARY[op](real(a, dtype), np.array(value, object if is_int(dtype) else float), dtype)

    def write(k):
        x = k.tile(a, dtype)
        tmp = f", {scratch(k, shape, dtype)}" if op in NEEDS_TMP else ""
        k.store(k.let(f"pl.tile.{name}({x}, {literal(value, dtype)}{tmp})", "y"), Result(once(exact, dtype), dtype))
    return Case(f"tile.{name} {dtype}", f"tile.{name}", write)


def broadcast(op, dtype, seed):
    """[R, C] with a row, a column and one element; on either side."""
    shape = shape_of(dtype)
    wide, out = sample(dtype, shape, seed, True, 100), []
    for n, small_shape in enumerate([(1, shape[1]), (shape[0], 1), (1, 1)]):
        small = sample(dtype, small_shape, seed + n + 1, True, 100)
        for left in (False, True):
            out.append((small, left))

    def write(k):
        x = k.tile(wide, dtype)
        for small, left in out:
            a, b = (small, wide) if left else (wide, small)
            exact = BINARY[op](real(a, dtype), real(b, dtype), dtype)
            y = k.tile(small, dtype)
            call = f"pl.tile.{op}({y}, {x})" if left else f"pl.tile.{op}({x}, {y})"
            k.store(k.let(call, "y"), Result(once(exact, dtype), dtype))
    return Case(f"tile.{op} {dtype} broadcast", f"tile.{op}", write)


PROMOTED = [("FP16", "FP32", "FP32"), ("BF16", "FP16", "BF16"), ("FP16", "BF16", "FP16"), ("INT8", "INT32", "INT32"),
            ("UINT8", "INT8", "INT8"), ("INT16", "UINT32", "UINT32"), ("INT32", "FP16", "FP16"), ("FP32", "INT64", "FP32")]


def mixed(op, left, right, result, seed):
    shape = (3, 32)
    a, b = sample(left, shape, seed, True, 60), sample(right, shape, seed + 1, True, 60)

    def converted(x, dtype):
        if dtype == result:
            return real(x, dtype)
        if is_int(result):
            return real(wrapped(real(x, dtype), result), result)
        return decode(encode(np.asarray(real(x, dtype), np.float64), result), result)
    exact = BINARY[op](converted(a, left), converted(b, right), result)

    def write(k):
        x, y = k.tile(a, left), k.tile(b, right)
        k.store(k.let(f"pl.tile.{op}({x}, {y})", "y"), Result(once(exact, result), result))
    return Case(f"tile.{op} {left} with {right}", f"tile.{op}", write)


UNARY = {
    "neg": (lambda x: -x, NUMERIC, 0), "abs": (abs, NUMERIC, 0),
    "exp": (np.exp, REAL, 1), "log": (lambda x: np.log(np.abs(x)), ["FP32", "FP16"], 1),
    "sqrt": (lambda x: np.sqrt(np.abs(x)), REAL, 0), "recip": (lambda x: 1 / x, REAL, 1),
    "rsqrt": (lambda x: 1 / np.sqrt(np.abs(x)), REAL, 1), "sin": (np.sin, ["FP32"], 10), "cos": (np.cos, ["FP32"], 10),
    "relu": (lambda x: np.where(x > 0, x, 0), NUMERIC, 0),
    "not_": (lambda x: -x - 1, ["INT16", "UINT16"], 0),
}


def unary(op, dtype, seed):
    function, _, tol = UNARY[op]
    shape = shape_of(dtype)
    a = sample(dtype, shape, seed, op in ("recip", "rsqrt", "log"))
    if op in ("log", "sqrt", "rsqrt"):
        a = encode(np.abs(decode(a, dtype)), dtype)
    exact = function(real(a, dtype))
    valid = (2, shape[1] - 1)

    def write(k):
        x = k.tile(a, dtype, valid)
        result = only(once(exact, dtype), dtype, valid)
        result.tol = tol * TOLERANCE.get(dtype, 0)
        k.store(k.let(f"pl.tile.{op}({x})", "y"), result)
    return Case(f"tile.{op} {dtype} partial", f"tile.{op}", write)


def special_values(dtype):
    """Zeros, infinities, NaN and the ends of the range through the functions that have rules for them."""
    top = {"FP32": 3.4028234663852886e38, "FP16": 65504.0, "BF16": 3.3895313892515355e38}[dtype]
    x = encode([[0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, top] * (2 if dtype == "FP32" else 4)], dtype)
    y = encode([[0.0, 0.0, 1.0, np.inf, 1.0, 0.0, 0.0, -top] * (2 if dtype == "FP32" else 4)], dtype)

    def write(k):
        a, b = k.tile(x, dtype), k.tile(y, dtype)
        with np.errstate(all="ignore"):
            v, w = decode(x, dtype), decode(y, dtype)
            many = {"exp": np.exp(v), "sqrt": np.sqrt(v), "recip": 1 / v, "rsqrt": 1 / np.sqrt(v), "abs": np.abs(v),
                    "neg": -v}
            if dtype != "BF16":
                many["log"] = np.log(v)
            for op, exact in many.items():
                k.store(k.let(f"pl.tile.{op}({a})", "y"), Result(once(exact, dtype), dtype, tol=TOLERANCE[dtype]))
            k.store(k.let(f"pl.tile.add({a}, {b})", "y"), Result(once(v + w, dtype), dtype))
            if dtype != "BF16":
                k.store(k.let(f"pl.tile.div({a}, {b})", "y"), Result(once(v / w, dtype), dtype))
    return Case(f"special values {dtype}", ["tile.exp", "tile.sqrt", "tile.recip", "tile.rsqrt"], write)


# ---- conversions

MODES = ["none", "rint", "round", "floor", "ceil", "trunc", "odd"]


def to_integer(x, mode):
    if mode == "rint":
        return np.rint(x)
    if mode == "round":
        return np.copysign(np.floor(np.abs(x) + 0.5), x)
    return {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "none": np.trunc}[mode](x)


def to_narrow_float(x, dtype, mode):
    """FP32 numbers to the bits of FP16 or BF16: (right, also right or None)."""
    bits = "FP16" if dtype == "FP16" else "BF16"
    near = encode(x, bits).view(np.uint16)
    if mode in ("none", "rint"):
        return near, None
    down, up = (n.view(np.uint16) for n in neighbours(x, bits))
    toward = np.where(x < 0, up, down)
    away = np.where(x < 0, down, up)
    if mode == "floor":
        return down, None
    if mode == "ceil":
        return up, None
    if mode == "trunc":
        return toward, None
    if mode == "odd":
        return np.where((down != up) & (toward % 2 == 0), away, toward), None
    return near, away  # round: a tie may go either way


def neighbours(x, dtype):
    near = encode(x, dtype).view(np.uint16).astype(np.int64)
    value = decode(near.astype(np.uint16).view(STORAGE[dtype]), dtype)
    magnitude, sign = near & 0x7fff, near & 0x8000
    away = np.where(np.abs(value) < np.abs(x), magnitude + 1, magnitude)
    toward = np.where(np.abs(value) > np.abs(x), magnitude - 1, magnitude)
    down = np.where(x < 0, away, toward) | sign
    up = np.where(x < 0, toward, away) | sign
    return down.astype(np.uint16), up.astype(np.uint16)


def cast_values(source, target):
    """Numbers within the range of the target, ties and quarters among them."""
    rng = np.random.default_rng(len(source) + 3 * len(target))
    if source in FLOATS and target in FLOATS:
        if width_of(target) > width_of(source):
            return rng.normal(0, 50, (1, 32))
        odd = np.array([1 + 2.0**-8, 1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-9, -1 - 2.0**-8, -1 - 2.0**-12, 0.0, 1.5])
        return np.concatenate([odd, rng.normal(0, 50, 24)]).reshape(1, 32)
    if source in FLOATS:
        low, high = (0, 1) if target == "BOOL" else limits(target)
        top = {"FP32": 2.0**23, "FP16": 1024.0, "BF16": 128.0}.get(source, 16.0)
        values = rng.integers(-400, 400, 32) / 4
        values[:12] = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.25, -0.25, 0.75, -0.75, 3.0, -3.0]
        return np.clip(values, max(low, -top), min(high, top)).reshape(1, 32)
    low, high = (0, 1) if source == "BOOL" else limits(source)
    if target in FLOATS:
        bound = {"FP32": 2**30, "FP16": 2048, "BF16": 2**15, "FP8E4M3FN": 200}[target]
        low, high = max(low, -bound), min(high, bound)
    values = [int(v) for v in rng.integers(low, high, 32, endpoint=True, dtype=np.int64 if high < 2**63 else np.uint64)]
    return np.array(values, object).reshape(1, 32)


def cast(source, target, modes):
    values = cast_values(source, target)
    if source == "BOOL":
        data = np.array(values, int).astype(bool)
    else:
        data = encode(values, source) if source in FLOATS else wrapped(values, source)
    x = decode(data, source) if source in FLOATS else np.array([int(v) for v in data.ravel()], object).reshape(data.shape)

    def expected(mode):
        if target == "BOOL":
            return Result(np.array(x != 0, bool), "BOOL")
        if source in FLOATS and is_int(target):
            low, high = limits(target)
            exact = np.vectorize(lambda v: min(max(int(v), low), high), otypes=[object])(to_integer(x, mode))
            return Result(wrapped(exact, target), target)
        if source in FLOATS and target in ("FP16", "BF16") and width_of(source) == 4:
            right, other = to_narrow_float(x, target, mode)
            return Result(right.view(STORAGE[target]), target, other=None if other is None else other.view(STORAGE[target]))
        if target in FLOATS:
            return Result(encode(np.asarray(x, np.float64), target), target)
        return Result(wrapped(x, target), target)

    def write(k):
        tile = k.tile(data, source)
        for mode in modes:
            k.store(k.let(f"pl.tile.cast({tile}, pl.{target}, mode='{mode}')", "y"), expected(mode))
    return Case(f"tile.cast {source} to {target} {' '.join(modes)}", "tile.cast", write)


def casts():
    out = []
    numbers = REAL + ["INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"]
    for source in numbers:
        for target in numbers:
            if source == target:
                continue
            if source in FLOATS and is_int(target):
                out.append(cast(source, target, MODES[:6]))
            elif source == "FP32" and target in ("FP16", "BF16"):
                out.append(cast(source, target, MODES))
            else:
                out.append(cast(source, target, ["rint"]))
    for other in ("FP32", "INT32", "UINT8"):
        out += [cast("BOOL", other, ["rint"]), cast(other, "BOOL", ["rint"])]
    out += [cast("FP32", "FP8E4M3FN", ["rint"]), cast("FP8E4M3FN", "FP32", ["rint"])]
    return out


# ---- reductions, expansions, comparisons

def reduction(way, what, dtype, seed):
    shape = shape_of(dtype)
    valid = (2, shape[1] - 3)
    bound = 3 if what == "prod" else 100
    a = sample(dtype, shape, seed, bound=bound)
    if not is_int(dtype):  # sums and products that need no rounding
        values = np.random.default_rng(seed).choice([-2.0, -1.0, 1.0, 0.5], shape) if what == "prod" else np.rint(
            decode(a, dtype))
        a = encode(values, dtype)
    x = real(a, dtype)[:valid[0], :valid[1]]
    axis = 1 if way == "row" else 0
    if what in ("argmax", "argmin"):
        found = (np.argmax if what == "argmax" else np.argmin)(np.asarray(x, float) if not is_int(dtype) else x.astype(
            np.int64 if dtype != "UINT64" else np.uint64), axis=axis)
        exact, result = np.expand_dims(found, axis).astype(np.int32), "INT32"
    else:
        function = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}[what]
        exact, result = once(np.expand_dims(function(x, axis=axis), axis), dtype), dtype
    full = np.zeros((shape[0], 1) if way == "row" else (1, shape[1]), STORAGE[result])
    full[:exact.shape[0], :exact.shape[1]] = exact

    def write(k):
        t = k.tile(a, dtype, valid)
        tmp = f", {scratch(k, shape, dtype)}" if way == "row" or what.startswith("arg") else ""
        k.store(k.let(f"pl.tile.{way}_{what}({t}{tmp})", "y"), Result(full, result))
    return Case(f"tile.{way}_{what} {dtype} partial", f"tile.{way}_{what}", write)


EXPAND = {"add": BINARY["add"], "sub": BINARY["sub"], "mul": BINARY["mul"], "div": quotient, "max": BINARY["maximum"],
          "min": BINARY["minimum"], "expdif": lambda a, b, d: np.exp(decode(once(a - b, d), d))}


def expansion(way, what, dtype, seed):
    shape = shape_of(dtype)
    a = sample(dtype, shape, seed, True, 50)
    v = sample(dtype, (shape[0], 1) if way == "row" else (1, shape[1]), seed + 1, True, 50)
    valid = (2, shape[1] - 5)
    if what == "":
        exact = np.broadcast_to(real(v, dtype), shape)
    else:
        exact = EXPAND[what](real(a, dtype), real(v, dtype), dtype)
    name = f"{way}_expand{'_' + what if what else ''}"

    def write(k):
        t = k.tile(a, dtype, valid)
        u = k.tile(v, dtype, (valid[0], 1) if way == "row" else (1, valid[1]))
        result = only(once(exact, dtype), dtype, valid)
        result.tol = 2 * TOLERANCE.get(dtype, 0) if what == "expdif" else 0
        k.store(k.let(f"pl.tile.{name}({t}, {u})", "y"), result)
    return Case(f"tile.{name} {dtype} partial", f"tile.{name}", write)


COMPARE = [np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal]


def packed(flags, width=32):
    rows, cols = flags.shape
    out = np.zeros((rows, (cols + 8 * width - 1) // (8 * width) * width), np.uint8)
    for c in range(cols):
        out[:, c // 8] |= (flags[:, c].astype(np.uint8) << (c % 8)).astype(np.uint8)
    return out


def comparison(dtype, seed):
    """All six comparisons with a tile and a scalar, and selections by their masks."""
    shape = shape_of(dtype)
    a = sample(dtype, shape, seed, bound=5)
    b = sample(dtype, shape, seed + 1, bound=5)
    b[:, :8] = a[:, :8]
    x, y = real(a, dtype), real(b, dtype)
    selects = dtype in ("INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "FP16", "FP32")

    def write(k):
        t, u = k.tile(a, dtype), k.tile(b, dtype)
        for mode in range(6):
            flags = COMPARE[mode](x, y).astype(bool)
            bits = packed(flags)
            mask = k.let(f"pl.tile.cmp({t}, {u}, cmp_type={mode})", "m")
            full = Result(bits, "UINT8", inside(bits.shape, (shape[0], (shape[1] + 7) // 8)))
            k.store(mask, full)
            if mode % 2 == 0:
                s = k.let(f"pl.tile.cmps({t}, {literal(2, dtype)}, cmp_type={mode})", "m")
                flags2 = COMPARE[mode](x, 2).astype(bool)
                k.store(s, Result(packed(flags2), "UINT8", full.mask))
            if selects and mode in (2, 5):
                tmp = scratch(k, (1, 32), "UINT8")
                k.store(k.let(f"pl.tile.sel({mask}, {t}, {u}, {tmp})", "y"), Result(np.where(flags, a, b), dtype))
                # The scalar of an unsigned tile has the signed type of its width.
                fallback = 1 if dtype.startswith("U") else -1
                scalar = literal(fallback, dtype.lstrip("U") if is_int(dtype) else dtype)
                k.store(k.let(f"pl.tile.sels({mask}, {t}, {tmp}, {scalar})", "y"),
                        Result(np.where(flags, a, once(np.array(fallback, object), dtype)), dtype))
    ops = ["tile.cmp", "tile.cmps"] + (["tile.sel", "tile.sels"] if selects else [])
    return Case(f"comparisons {dtype}", ops, write)


# ---- data movement

def movement(dtype, seed):
    """Shapes that need padding or lie in columns, through the operations that only move data."""
    cols = 32 // width_of(dtype)
    whole = sample(dtype, (8, 2 * cols), seed)
    column = sample(dtype, (8, 1), seed + 1)
    odd = sample(dtype, (5, 7), seed + 2)
    part = sample(dtype, (2, cols), seed + 3)

    def write(k):
        t, c, o, p = (k.tile(x, dtype) for x in (whole, column, odd, part))
        k.store(c, Result(column, dtype))
        k.store(o, Result(odd, dtype))
        s = k.let(f"pl.tile.slice({t}, [2, {cols}], [3, {cols}])", "s")
        k.store(s, Result(whole[3:5, cols:], dtype))
        k.store(k.let(f"pl.tile.extract({t}, 5, {cols}, [2, {cols}], target_memory=pl.Mem.Vec)", "y"),
                Result(whole[5:7, cols:], dtype))
        k.store(k.let(f"pl.tile.reshape({t}, [4, {4 * cols}])", "y"), Result(whole.reshape(4, -1), dtype))
        k.store(k.let(f"pl.tile.reshape({o}, [7, 5])", "y"), Result(odd.reshape(7, 5), dtype))
        k.store(k.let(f"pl.tile.concat({t}, {t})", "y"), Result(np.concatenate([whole, whole], 1), dtype))
        n = np.zeros((8, 2 * cols), STORAGE[dtype])
        base = k.tile(n, dtype)
        n = n.copy()
        n[4:6, cols:] = part
        k.store(k.let(f"pl.tile.assemble({base}, {p}, [4, {cols}])", "y"), Result(n, dtype))
        moved = k.let(f"pl.tile.move({t}, target_memory=pl.Mem.Vec)", "y")
        k.store(moved, Result(whole, dtype))
        square = k.let(f"pl.tile.transpose({t}, 0, 1)", "y")
        k.store(square, Result(whole.T.copy(), dtype))
        k.store(k.let(f"pl.tile.transpose({c}, 0, 1)", "y"), Result(column.T.copy(), dtype))
        k.store(k.let(f"pl.tile.transpose({o}, 0, 1)", "y"), Result(odd.T.copy(), dtype))
        v = k.let(f"pl.tile.read({o}, [3, 4])", "v")
        k.put_scalar(v, Result(odd[3, 4], dtype))
        w = k.let(f"pl.tile.write({o}, [2, 2], {v})", "y")
        changed = odd.copy()
        changed[2, 2] = odd[3, 4]
        k.store(w, Result(changed, dtype))
    ops = [f"tile.{leaf}" for leaf in ("load", "store", "slice", "extract", "reshape", "concat", "assemble", "move",
                                       "transpose", "read", "write")]
    return Case(f"moving {dtype}", ops, write)


def padding(dtype, seed):
    shape = shape_of(dtype)
    a = sample(dtype, shape, seed)
    valid = (2, shape[1] - 7)
    low, high = (-np.inf, np.inf) if dtype in REAL else limits(dtype)
    mask = inside(shape, valid)
    bigger = (4, 2 * shape[1])

    def write(k):
        for name, value in (("zero", 0), ("max", high), ("min", low)):
            pad = once(np.array(value, object if is_int(dtype) else float), dtype)
            t = k.tile(a, dtype, valid)
            expected = np.where(mask, a, pad)
            k.store(k.let(f"pl.tile.fillpad({t}, pad_value=pl.PadValue.{name})", "y"), Result(expected, dtype))
            u = k.tile(a, dtype, valid)
            k.store(k.let(f"pl.tile.fillpad_inplace({u}, pad_value=pl.PadValue.{name})", "y"), Result(expected, dtype))
            whole = np.full(bigger, pad, STORAGE[dtype])
            whole[:shape[0], :shape[1]] = expected
            k.store(k.let(f"pl.tile.fillpad_expand({t}, {list(bigger)}, pad_value=pl.PadValue.{name})", "y"),
                    Result(whole, dtype))
    return Case(f"padding {dtype}", ["tile.fillpad", "tile.fillpad_inplace", "tile.fillpad_expand"], write)


def creation(dtype, seed):
    shape = shape_of(dtype)
    value = 3 if is_int(dtype) else 2.75

    def write(k):
        wanted = once(np.full(shape, value, object if is_int(dtype) else float), dtype)
        k.store(k.let(f"pl.tile.full({list(shape)}, dtype=pl.{dtype}, value={value})", "y"), Result(wanted, dtype))
        t = k.tile(sample(dtype, shape, seed), dtype)
        k.store(k.let(f"pl.tile.expands({t}, {literal(value, dtype)})", "y"), Result(wanted, dtype))
        if dtype in ("INT16", "INT32", "UINT16", "UINT32"):
            up = np.arange(32, dtype=np.int64)[None] + 5
            k.store(k.let(f"pl.tile.ci({literal(5, dtype)}, [1, 32], dtype=pl.{dtype})", "y"),
                    Result(wrapped(up.astype(object), dtype), dtype))
            k.store(k.let(f"pl.tile.ci({literal(5, dtype)}, [1, 32], dtype=pl.{dtype}, descending=True)", "y"),
                    Result(wrapped((10 - up).astype(object), dtype), dtype))
        if dtype not in ("INT64", "UINT64"):
            for upper in (False, True):
                i, j = np.indices(shape)
                ones = (j >= i - 1) if upper else (j <= i - 1)
                k.store(k.let(f"pl.tile.tri(-1, {list(shape)}, dtype=pl.{dtype}, upper={upper})", "y"),
                        Result(once(ones.astype(object if is_int(dtype) else float), dtype), dtype))
    return Case(f"creation {dtype}", ["tile.full", "tile.expands", "tile.ci", "tile.tri"], write)


def atomic(dtype, seed):
    shape = shape_of(dtype)
    a, before = sample(dtype, shape, seed, bound=50), sample(dtype, shape, seed + 1, bound=50)
    exact = once(real(a, dtype) + real(before, dtype), dtype)

    def write(k):
        name, row = k.wanted(Result(exact, dtype), before)
        t = k.tile(a, dtype)
        k.line(f"{name} = pl.tile.store({t}, [{row}, 0], {name}, atomic=pl.AtomicType.Add)")
    return Case(f"atomic store {dtype}", "tile.store", write)


def indexed(dtype, seed):
    """Gather and scatter by flat index: tiles whose rows are padded too."""
    wide = width_of(dtype) == 4
    index_dtype = "INT32" if wide else "INT16"
    out = []
    for shape in ((4, 32), (3, 10)):
        n = shape[0] * shape[1]
        src = sample(dtype, shape, seed)
        rng = np.random.default_rng(seed + n)
        index = rng.permutation(n).reshape(shape).astype(np.int64)
        out.append((shape, src, index))

    def write(k):
        for shape, src, index in out:
            t = k.tile(src, dtype)
            i = k.tile(index.astype(STORAGE[index_dtype]), index_dtype)
            if dtype in ("FP16", "FP32", "INT16", "INT32"):
                tmp = scratch(k, shape, index_dtype)
                k.store(k.let(f"pl.tile.gather({t}, {i}, {tmp})", "y"), Result(src.ravel()[index], dtype))
            base = k.tile(src, dtype)
            if dtype in ("INT16", "INT32", "FP16", "FP32", "BF16"):
                wanted = src.ravel().copy()
                wanted[index.ravel()] = src.ravel()
                k.store(k.let(f"pl.tile.scatter({base}, {t}, {i})", "y"), Result(wanted.reshape(shape), dtype))
    return Case(f"flat indices {dtype}", ["tile.gather", "tile.scatter"], write)


def bits(source, target, seed):
    """The same bytes as another dtype; rows that are padded too."""
    shapes = [(4, 64 // width_of(source)), (3, 20 // width_of(source) * (4 if width_of(source) < 8 else 1))]

    def write(k):
        for n, shape in enumerate(shapes):
            a = sample(source, shape, seed + n)
            if shape[1] * width_of(source) % width_of(target):
                continue
            t = k.tile(a, source)
            got = np.ascontiguousarray(a).view(STORAGE[target])
            k.store(k.let(f"pl.tile.reinterpret_view({t}, dtype=pl.{target})", "y"), Result(got, target))
    return Case(f"bits {source} as {target}", "tile.reinterpret_view", write)


def product(dtype, shape, seed):
    m, kk, n = shape
    acc = "FP32" if dtype in REAL else "INT32"
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-3, 4, (m, kk)), rng.integers(-3, 4, (kk, n))
    left, right = encode(a.astype(object if is_int(dtype) else float), dtype), encode(
        b.astype(object if is_int(dtype) else float), dtype)
    bias = rng.integers(-9, 9, (1, n))

    def value(x):
        return encode(x.astype(object if acc == "INT32" else float), acc)

    def write(k):
        def side(array, space):
            mat = k.tile(array, dtype, None, "Mat")
            return k.let(f"pl.tile.move({mat}, target_memory=pl.Mem.{space})", "m")
        x, y = side(left, "Left"), side(right, "Right")
        first = k.let(f"pl.tile.matmul({x}, {y})", "p")
        k.store(first, Result(value(a @ b), acc))
        second = k.let(f"pl.tile.matmul({x}, {y})", "p")
        k.store(k.let(f"pl.tile.matmul_acc({second}, {x}, {y})", "p"), Result(value(2 * (a @ b)), acc))
        mat = k.tile(value(bias), acc, None, "Mat")
        row = k.let(f"pl.tile.move({mat}, target_memory=pl.Mem.Bias)", "m")
        k.store(k.let(f"pl.tile.matmul_bias({x}, {y}, {row})", "p"), Result(value(a @ b + bias), acc))
    return Case(f"matmul {dtype} {m}x{kk}x{n}", ["tile.matmul", "tile.matmul_acc", "tile.matmul_bias"], write, "cube")


def cases(full):
    """All cases, or without `full` a fixed sample."""
    out, seed = [], 100
    for op in BINARY:
        for dtype in dtypes_of(op):
            seed += 10
            out.append(binary(op, dtype, seed))
            if op != "sub" or dtype in ("INT8", "INT16", "INT32", "FP16", "FP32", "BF16"):
                out.append(with_scalar(op, dtype, seed + 3))
    for op in ("add", "mul", "sub", "maximum", "fmod"):
        for dtype in NUMERIC:
            seed += 10
            out.append(broadcast(op, dtype, seed))
    for op in ("add", "mul", "minimum"):
        for left, right, result in PROMOTED:
            seed += 10
            out.append(mixed(op, left, right, result, seed))
    for op, (_, dtypes, _) in UNARY.items():
        for dtype in dtypes:
            seed += 10
            out.append(unary(op, dtype, seed))
    out += [special_values(dtype) for dtype in REAL]
    out += casts()
    for way in ("row", "col"):
        for what in ("sum", "prod", "max", "min", "argmax", "argmin"):
            for dtype in NUMERIC:
                if (way, what) == ("row", "min") and dtype not in ("INT16", "INT32", "FP16", "FP32"):
                    continue
                seed += 10
                out.append(reduction(way, what, dtype, seed))
        for what in [""] + list(EXPAND):
            for dtype in ["FP16", "FP32"] if what == "div" else REAL if what == "expdif" else \
                    ["INT8", "INT16", "INT32", "FP16", "FP32"] if (way, what) == ("row", "add") else NUMERIC:
                seed += 10
                out.append(expansion(way, what, dtype, seed))
    for dtype in NUMERIC:
        seed += 10
        out += [comparison(dtype, seed), movement(dtype, seed + 1), padding(dtype, seed + 2), creation(dtype, seed + 3)]
    out += [atomic(dtype, 7) for dtype in ("FP32", "BF16", "FP16", "INT32", "INT16", "INT8")]
    out += [indexed(dtype, 9) for dtype in ("FP16", "FP32", "BF16", "INT16", "INT32")]
    out += [bits(source, target, 11) for source in NUMERIC for target in NUMERIC if source != target]
    out += [product(dtype, shape, 13) for dtype in REAL + ["INT8"] for shape in ((16, 32, 16), (32, 64, 48), (5, 7, 9))]
    return out if full else out[::10]
