"""More grids: operations of three operands, partly valid operands, indices into memory, sorting, random numbers."""
import numpy as np

from op_batch import STORAGE, Case, Result, is_int
from op_values import NUMERIC, literal, once, only, real, sample, scratch, shape_of


def three(dtype, seed):
    """Left to right, rounded after each step."""
    shape = shape_of(dtype)
    a, b, c = (sample(dtype, shape, seed + n) for n in range(3))
    s = 7 if is_int(dtype) else 1.625

    def twice(x, y, z, sign):
        first = once(x + y if sign > 0 else x - y, dtype)
        return once(real(first, dtype) + z if sign > 0 else real(first, dtype) - z, dtype)
    x, y, z = real(a, dtype), real(b, dtype), real(c, dtype)

    def write(k):
        t, u, v = k.tile(a, dtype), k.tile(b, dtype), k.tile(c, dtype)
        for op, sign in (("add", 1), ("sub", -1)):
            k.store(k.let(f"pl.tile.{op}c({t}, {u}, {v})", "y"), Result(twice(x, y, z, sign), dtype))
            k.store(k.let(f"pl.tile.{op}sc({t}, {literal(s, dtype)}, {v})", "y"), Result(twice(x, s, z, sign), dtype))
    return Case(f"three operands {dtype}", ["tile.addc", "tile.subc", "tile.addsc", "tile.subsc"], write)


def slopes(dtype, seed):
    shape = shape_of(dtype)
    a, slope = sample(dtype, shape, seed), sample(dtype, shape, seed + 1)
    x = real(a, dtype)

    def write(k):
        t = k.tile(a, dtype)
        wanted = np.where(x > 0, x, real(once(x * 0.25, dtype), dtype))
        k.store(k.let(f"pl.tile.lrelu({t}, {literal(0.25, 'FP32')})", "y"), Result(once(wanted, dtype), dtype))
        if dtype != "BF16":
            u = k.tile(slope, dtype)
            wanted = np.where(x > 0, x, real(once(x * real(slope, dtype), dtype), dtype))
            k.store(k.let(f"pl.tile.prelu({t}, {u}, {scratch(k, shape, dtype)})", "y"), Result(once(wanted, dtype), dtype))
    return Case(f"slopes {dtype}", ["tile.lrelu"] + (["tile.prelu"] if dtype != "BF16" else []), write)


def parts(dtype, seed):
    """Both operands where both are valid, the one that is elsewhere."""
    shape = shape_of(dtype)
    a, b = sample(dtype, shape, seed, bound=9), sample(dtype, shape, seed + 1, bound=9)
    inner = (1, shape[1] // 2)
    both = np.zeros(shape, bool)
    both[:inner[0], :inner[1]] = True
    x, y = real(a, dtype), real(b, dtype)

    def write(k):
        t, u = k.tile(a, dtype), k.tile(b, dtype, inner)
        for op, exact in (("add", x + y), ("mul", x * y), ("max", np.where(x < y, y, x)), ("min", np.where(y < x, y, x))):
            k.store(k.let(f"pl.tile.part_{op}({t}, {u})", "y"), Result(np.where(both, once(exact, dtype), a), dtype))
    return Case(f"parts {dtype}", [f"tile.part_{op}" for op in ("add", "mul", "max", "min")], write)


def blocks(dtype, seed):
    """gatherb: runs of 32 bytes."""
    n = 32 // np.dtype(STORAGE[dtype]).itemsize
    src = sample(dtype, (1, 8 * n), seed)
    order = np.random.default_rng(seed).permutation(8)

    def write(k):
        t = k.tile(src, dtype)
        o = k.tile((order * 32).astype(np.uint32)[None], "UINT32")
        k.store(k.let(f"pl.tile.gatherb({t}, {o})", "y"), Result(src.reshape(8, n)[order].reshape(1, -1), dtype))
    return Case(f"blocks {dtype}", "tile.gatherb", write)


def memory(dtype, seed):
    """mgather with every answer to an index out of range, mscatter."""
    width = 32 // np.dtype(STORAGE[dtype]).itemsize
    mem = sample(dtype, (6, width), seed)
    rows = np.array([[5, 0, 9, 3]], np.int32)
    rng = np.random.default_rng(seed)
    cells = rng.permutation(6 * width)[:width].astype(np.int32)[None]
    src = sample(dtype, (1, width), seed + 1)

    def write(k):
        m = k.own(mem, dtype)
        i = k.tile(rows, "INT32")
        for oob, at in (("clamp", np.minimum(rows[0], 5)), ("wrap", rows[0] % 6), ("zero", None)):
            wanted = mem[np.minimum(rows[0], 5)] if at is None else mem[at]
            if at is None:
                wanted = wanted.copy()
                wanted[rows[0] > 5] = np.zeros_like(wanted[:1])
            k.store(k.let(f"pl.tile.mgather({m}, {i}, coalesce='row', gather_oob='{oob}')", "y"), Result(wanted, dtype))
        j = k.tile(cells, "INT32")
        k.store(k.let(f"pl.tile.mgather({m}, {j}, coalesce='elem')", "y"), Result(mem.ravel()[cells], dtype))
        if dtype in ("FP16", "FP32", "INT16", "INT32"):
            target = k.own(mem, dtype, True)
            k.line(f"{target} = pl.tile.mscatter({k.tile(src, dtype)}, {j}, {target})")
            wanted = mem.copy().ravel()
            wanted[cells[0]] = src[0]
            k.wanted_own(Result(wanted.reshape(mem.shape), dtype), target)
    return Case(f"indices into memory {dtype}", ["tile.mgather", "tile.mscatter"], write)


def lanes(values, index):
    """Sorted pairs as they lie in a tile, seen as integers."""
    out = np.empty((1, 2 * len(values)), np.float32)
    out[0, 0::2] = values
    out.view(np.uint32)[0, 1::2] = index
    return out


def sorting(seed):
    rng = np.random.default_rng(seed)
    values = (rng.integers(-40, 40, 128) / 4).astype(np.float32)
    index = np.arange(128, dtype=np.uint32)

    def ordered(first, end):
        part = index[first:end]
        return part[np.lexsort((part, -values[first:end]))]

    def bits(k, tile, wanted):
        k.store(k.let(f"pl.tile.reinterpret_view({tile}, dtype=pl.UINT32)", "y"), Result(wanted.view(np.uint32), "UINT32"))

    def write(k):
        groups = [ordered(n, n + 32) for n in range(0, 128, 32)]
        t, i = k.tile(values[None], "FP32"), k.tile(index[None], "UINT32")
        runs = np.concatenate([lanes(values[g], g) for g in groups], 1)
        s = k.let(f"pl.tile.sort32({t}, {i})", "s")
        bits(k, s, runs)
        whole = ordered(0, 128)
        bits(k, k.let(f"pl.tile.mrgsort_format1({s}, 64)", "y"), lanes(values[whole], whole))
        for count in (2, 3, 4):
            tiles = [k.tile(lanes(values[g], g), "FP32") for g in groups[:count]]
            tmp = scratch(k, (1, 64 * count), "FP32")
            wanted = ordered(0, 32 * count)
            bits(k, k.let(f"pl.tile.mrgsort_format2({', '.join(tiles)}, {tmp}, exhausted=False)", "y"),
                 lanes(values[wanted], wanted))
    return Case("sorting", ["tile.sort32", "tile.mrgsort_format1", "tile.mrgsort_format2"], write)


def philox(counter, key, rounds):
    """Philox-4x32 (Salmon et al., 2011)."""
    x, k0, k1 = [(counter >> (32 * i)) & 0xffffffff for i in range(4)], key[0], key[1]
    for _ in range(rounds):
        p0, p1 = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [(p1 >> 32) ^ x[1] ^ k0, p1 & 0xffffffff, (p0 >> 32) ^ x[3] ^ k1, p0 & 0xffffffff]
        k0, k1 = (k0 + 0x9E3779B9) & 0xffffffff, (k1 + 0xBB67AE85) & 0xffffffff
    return x


def random(rounds):
    rows, cols, start, key = 2, 512, 0xfffffff0, (7, 9)
    wanted, counter = np.zeros((rows, cols), np.uint32), start
    for r in range(rows):
        for group in range(0, cols, 256):
            for lane in range(64):
                wanted[r, group + lane + 64 * np.arange(4)] = philox(counter + lane, key, rounds)
            counter += cols // 4

    def write(k):
        seeds = ", ".join(f"pl.const({v}, pl.INT32)" for v in (*key, -16, 0, 0, 0))
        t = k.let(f"pl.tile.random({seeds}, [{rows}, {cols}], dtype=pl.UINT32, rounds={rounds})", "y")
        for half in (0, 1):
            part = k.let(f"pl.tile.slice({t}, [{rows}, 256], [0, {256 * half}])", "y")
            k.store(part, Result(wanted[:, 256 * half:256 * half + 256], "UINT32"))
    return Case(f"random {rounds} rounds", "tile.random", write)


def planes(dtype, seed):
    """Tiles of rank 3."""
    a, b = sample(dtype, (2, 3, 32), seed, bound=50), sample(dtype, (2, 3, 32), seed + 1, bound=50)
    x, y = real(a, dtype), real(b, dtype)

    def write(k):
        names = [k.own(array, dtype) for array in (a, b)]
        t, u = (k.let(f"pl.tile.load({name}, [0, 0, 0], [2, 3, 32])", "t") for name in names)

        def keep(value, exact):
            out = k.own(np.zeros_like(exact), dtype, True)
            k.line(f"{out} = pl.tile.store({value}, [0, 0, 0], {out})")
            k.wanted_own(Result(exact, dtype), out)
        keep(k.let(f"pl.tile.add({t}, {u})", "y"), once(x + y, dtype))
        keep(k.let(f"pl.tile.transpose({t}, 1, 2)", "y"), np.ascontiguousarray(a.transpose(0, 2, 1)))
        keep(k.let(f"pl.tile.slice({t}, [1, 3, 32], [1, 0, 0])", "y"), a[1:])
    return Case(f"rank 3 {dtype}", ["tile.add", "tile.transpose", "tile.slice"], write)


def varying(dtype, seed):
    """Valid extents that are known only when it runs."""
    shape = shape_of(dtype)
    a = sample(dtype, shape, seed, bound=40)
    x = real(a, dtype)

    def write(k):
        name = k.own(np.array([[2, shape[1] - 5]], np.int32), "INT32")
        rows, cols = (k.let(f"pl.cast(pl.tensor.read({name}, [0, {i}]), pl.INDEX)", "n") for i in range(2))
        pool, row = k.given(a, dtype)
        t = k.let(f"pl.tile.load({pool}, [{row}, 0], {list(shape)}, [{rows}, {cols}])", "t")
        valid = (2, shape[1] - 5)
        k.store(k.let(f"pl.tile.adds({t}, {literal(3, dtype)})", "y"), only(once(x + 3, dtype), dtype, valid))
        total = np.zeros((shape[0], 1), STORAGE[dtype])
        total[:2, 0] = once(x[:2, :valid[1]].max(1), dtype)
        k.store(k.let(f"pl.tile.row_max({t}, {scratch(k, shape, dtype)})", "y"), Result(total, dtype))
        pad = np.zeros_like(a)
        pad[:2, :valid[1]] = a[:2, :valid[1]]
        k.store(k.let(f"pl.tile.fillpad({t}, pad_value=pl.PadValue.zero)", "y"), Result(pad, dtype))
    return Case(f"varying extents {dtype}", ["tile.adds", "tile.row_max", "tile.fillpad"], write)


def cases(full):
    out = [strided_push(), sorting(5), random(10), random(7)]
    for n, dtype in enumerate(NUMERIC):
        out += [three(dtype, 500 + n), parts(dtype, 600 + n), blocks(dtype, 700 + n), memory(dtype, 800 + n),
                planes(dtype, 900 + n), varying(dtype, 950 + n)]
    out += [slopes(dtype, 400) for dtype in ("FP32", "FP16", "BF16")]
    return out if full else out[:4] + out[4::10]


def strided_push():
    """lane_stride: the second lane's part begins there instead of in the middle."""
    data = np.arange(6 * 16, dtype=np.float32).reshape(6, 16)
    wanted, mask = np.zeros((6, 16), np.float32), np.zeros((6, 16), bool)
    wanted[0:2], wanted[3:5] = data[0:2], data[2:4]
    mask[0:2], mask[3:5] = True, True

    def write(parts):
        x, y = parts.k.own(data, "FP32"), parts.k.own(np.zeros_like(wanted), "FP32", True)
        kind = "pl.Tensor[[6, 16], pl.FP32]"
        cube = ["t = pl.tile.load(x, [0, 0], [6, 16], target_memory=pl.Mem.Mat)",
                "pl.tile.tpush_to_aiv(t, split=1, lane_stride=2)"]
        vector = ["lane = pl.tile.get_subblock_idx()",
                  "p: pl.Tile[[3, 16], pl.FP32, pl.Mem.Vec] = pl.tile.tpop_from_aic(split=1, lane_stride=2)",
                  "y = pl.tile.store(p, [lane * 3, 0], y)", "pl.system.tfree_to_aic(p)"]
        call = parts.group(900, f"x: {kind}, y: pl.InOut[{kind}]", cube, vector, 1)
        parts.k.line(f"{call}({x}, {y})")
        parts.k.wanted_own(Result(wanted, "FP32", mask), y)
    return Case("push with a lane stride", ["tile.tpush_to_aiv", "tile.tpop_from_aic"], write, "pipes")
