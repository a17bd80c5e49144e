"""Values whose tiles do not lie row after row: what comes from the accumulator, transposed views, and bytes of transposed
tensors seen as another dtype. A layout is where elements lie, not what they are."""
import numpy as np

from op_batch import Case, Result
from op_values import scratch


def accumulator():
    """A product that is moved without a layout keeps its boxes in the type."""
    a = (np.arange(32 * 32).reshape(32, 32) % 17 - 8).astype(np.float32) / 8
    product = a @ a

    def write(k):
        left = k.tile(a, "FP32", space="Mat")
        p = k.let(f"pl.tile.move({left}, target_memory=pl.Mem.Left)")
        q = k.let(f"pl.tile.move({left}, target_memory=pl.Mem.Right)")
        c = k.let(f"pl.tile.matmul({p}, {q})")
        t = k.let(f"pl.tile.move({c}, target_memory=pl.Mem.Vec)", "t")
        rows(k, t, product)
        wide = np.zeros((40, 48), np.float32)
        wide[:32, :32] = product
        k.store(k.let(f"pl.tile.fillpad_expand({t}, [40, 48], pad_value=pl.PadValue.zero)", "y"), Result(wide, "FP32"))
        k.store(k.let(f"pl.tile.reshape({t}, [16, 64])", "y"), Result(product.reshape(16, 64), "FP32"))
    return Case("an accumulator without a layout", ["tile.move", "tile.row_sum", "tile.fillpad_expand"], write, "cube")


def seen_otherwise():
    """Bytes of boxes that are padded: of a product and of a tile for the matrix unit."""
    a = (np.arange(16 * 16).reshape(16, 16) % 17 - 8).astype(np.float32)
    b = (np.arange(16 * 24).reshape(16, 24) % 5).astype(np.float32)
    m = np.arange(16 * 48, dtype=np.int32).astype(np.int8).reshape(16, 48)

    def write(k):
        left = k.let(f"pl.tile.move({k.tile(a, 'FP32', space='Mat')}, target_memory=pl.Mem.Left)")
        right = k.let(f"pl.tile.move({k.tile(b, 'FP32', space='Mat')}, target_memory=pl.Mem.Right)")
        c = k.let(f"pl.tile.matmul({left}, {right})")
        for kind in ("INT64", "INT16"):
            bits = k.let(f"pl.tile.reinterpret_view({c}, dtype=pl.{kind})")
            k.store(k.let(f"pl.tile.move({bits}, target_memory=pl.Mem.Vec)", "y"), Result((a @ b).view(kind.lower()), kind))
        wide = k.let(f"pl.tile.reinterpret_view({k.tile(m, 'INT8', space='Mat')}, dtype=pl.INT16)")
        k.store(k.let(f"pl.tile.move({wide}, target_memory=pl.Mem.Vec)", "y"), Result(m.view(np.int16), "INT16"))
    return Case("padded boxes seen otherwise", ["tile.reinterpret_view"], write, "cube")


def rows(k, t, values):
    for op, result in (("row_sum", values.sum(1, keepdims=True)), ("row_max", values.max(1, keepdims=True))):
        k.store(k.let(f"pl.tile.{op}({t}, {scratch(k, values.shape, 'FP32')})", "y"), Result(result, "FP32"))
    k.store(k.let(f"pl.tile.col_sum({t})", "y"), Result(values.sum(0, keepdims=True), "FP32"))
    k.store(k.let(f"pl.tile.adds({t}, 1.0)", "y"), Result(values + 1, "FP32"))


def turned():
    a = (np.arange(16 * 24).reshape(16, 24) % 13 - 6).astype(np.float32)

    def write(k):
        t = k.let(f"pl.tile.transpose_view({k.tile(a, 'FP32')})", "t")
        rows(k, t, a.T)
        k.store(k.let(f"pl.tile.reshape({t}, [16, 24])", "y"), Result(a.T.reshape(16, 24), "FP32"))
        sums = k.let(f"pl.tile.adds({t}, 1.0)", "t")  # lies as its operand does
        k.store(k.let(f"pl.tile.reshape({sums}, [16, 24])", "y"), Result((a.T + 1).reshape(16, 24), "FP32"))
        row = k.let(f"pl.tile.slice({sums}, [1, 16], [20, 0])", "t")
        k.store(k.let(f"pl.tile.reshape({row}, [2, 8])", "y"), Result((a.T + 1)[20].reshape(2, 8), "FP32"))
        k.store(k.let(f"pl.tile.adds({sums}, 0.0)", "y"), Result(a.T + 1, "FP32"))  # is as it was
        part = k.let(f"pl.tile.slice({t}, [8, 16], [1, 0])", "t")
        k.store(k.let(f"pl.tile.reshape({part}, [4, 32])", "y"), Result(a.T[1:9].reshape(4, 32), "FP32"))
        wide = np.zeros((29, 24), np.float32)
        wide[:24, :16] = a.T
        k.store(k.let(f"pl.tile.fillpad_expand({t}, [29, 24], pad_value=pl.PadValue.zero)", "y"), Result(wide, "FP32"))
        b = np.arange(90, dtype=np.int16).reshape(18, 5)
        whole = k.let(f"pl.tile.transpose_view({k.tile(b, 'INT16')})")
        part = k.let(f"pl.tile.slice({whole}, [3, 16], [1, 0])")
        k.store(k.let(f"pl.tile.reshape({part}, [3, 16])", "y"), Result(b.T[1:4, :16], "INT16"))
        column = k.tile(a[:, :1], "FP32")
        wide = np.zeros((20, 8), np.float32)
        wide[:16, :1] = a[:, :1]
        k.store(k.let(f"pl.tile.fillpad_expand({column}, [20, 8], pad_value=pl.PadValue.zero)", "y"), Result(wide, "FP32"))
    return Case("a transposed view", ["tile.transpose_view", "tile.row_sum"], write)


def replaced():
    """Rows of tiles that lie by columns, and of single columns."""
    index = np.array([[5, 0, 5]], np.int32)

    def tile(k, values, columns):
        if not columns:
            return k.tile(values, "INT32")
        turned = k.let(f"pl.tile.transpose({k.tile(values, 'INT32')}, 0, 1)")
        return k.let(f"pl.tile.move({k.let(f'pl.tile.transpose_view({turned})')}, target_memory=pl.Mem.Vec)")

    def write(k):
        for width, layouts in ((24, ((0, 0), (0, 1), (1, 0), (1, 1))), (1, ((0, 0),))):
            x = np.arange(7 * width, dtype=np.int32).reshape(7, width)
            y = -1 - np.arange(3 * width, dtype=np.int32).reshape(3, width)
            wanted = x.copy()
            for row, at in enumerate(index[0]):
                wanted[at] = y[row]
            for of_input, of_source in layouts:
                o, i, s = tile(k, x, of_input), k.tile(index, "INT32"), tile(k, y, of_source)
                k.store(k.let(f"pl.tile.scatter_update({o}, {i}, {s}, dim=-2)", "y"), Result(wanted, "INT32"))
    return Case("rows replaced", ["tile.scatter_update", "tile.transpose_view"], write)


def row_of_columns():
    """One row of a tile that lies by columns: its elements do not follow each other."""
    a = (np.arange(16 * 24, dtype=np.int32).reshape(16, 24) * 37) % 101 - 50
    b = (np.arange(8 * 16, dtype=np.int32).reshape(8, 16) * 53) % 97 - 40
    row = np.ascontiguousarray(a.T[11:12])

    def write(k):
        turned = k.let(f"pl.tile.adds(pl.tile.transpose_view({k.tile(a, 'INT32')}), 0)")
        r, t = k.let(f"pl.tile.slice({turned}, [1, 16], [11, 0])"), k.tile(b, "INT32")
        for text, wanted in (
                (f"add({t}, {r})", b + row), (f"add({r}, {t})", b + row), (f"col_expand({t}, {r})", np.repeat(row, 8, 0)),
                (f"col_expand_max({t}, {r})", np.maximum(b, row)), (f"transpose({r}, 0, 1)", row.T),
                (f"col_sum({r})", row), (f"concat({r}, {r})", np.concatenate([row, row], 1))):
            k.store(k.let(f"pl.tile.{text}", "y"), Result(np.ascontiguousarray(wanted), "INT32"))
        k.store(k.let(f"pl.tile.cast({r}, pl.FP32)", "y"), Result(row.astype(np.float32), "FP32"))
        k.store(k.let(f"pl.tile.reinterpret_view({turned}, dtype=pl.INT16)", "y"),
                Result(np.ascontiguousarray(a.T).view(np.int16), "INT16"))
        k.store(k.let(f"pl.tile.reinterpret_view({r}, dtype=pl.INT16)", "y"), Result(row.view(np.int16), "INT16"))
    return Case("a row of a tile by columns", ["tile.col_expand", "tile.transpose", "tile.reinterpret_view"], write)


TENSORS = {
    # In memory the columns of a transposed matrix follow each other: there are more of them, or fewer.
    "wider": ("INT32", "INT16", ["t = pl.tensor.transpose(x, 0, 1)", "r = pl.tensor.reinterpret_view(t, dtype=pl.INT16)"],
              lambda x: x.view(np.int16).T),
    "computed": ("INT32", "INT16", ["u = pl.tensor.adds(x, 0)", "t = pl.tensor.transpose(u, 0, 1)",
                                    "r = pl.tensor.reinterpret_view(t, dtype=pl.INT16)"], lambda x: x.view(np.int16).T),
    "narrower": ("INT16", "INT32", ["u = pl.tensor.adds(x, 0)", "t = pl.tensor.transpose(u, 0, 1)",
                                    "r = pl.tensor.reinterpret_view(t, dtype=pl.INT32)"], lambda x: x.view(np.int32).T),
    "flat": ("INT32", "INT16", ["u = pl.tensor.adds(x, 0)", "t = pl.tensor.transpose(u, 0, 1)",
                                "r = pl.tensor.reinterpret_view(t, dtype=pl.INT16, shape=[32, 64])"],
             lambda x: x.view(np.int16).reshape(32, 64)),
    # A bare literal is FP32; the result is as wide, and rounded once.
    "literal": ("FP16", "FP32", ["r = pl.tensor.muls(x, 0.1)"], lambda x: x.astype(np.float32) * np.float32(0.1)),
    "typed": ("FP16", "FP16", ["r = pl.tensor.muls(x, pl.const(0.1, pl.FP16))"], lambda x: x * np.float16(0.1)),
    # What becomes a tile still has extents, and a single row is scattered like many.
    "extent": ("INT32", "INT32", ["u = pl.tensor.adds(x, 0)", "d = pl.cast(pl.tensor.dim(u, -1), pl.INT32)",
                                  "r = pl.tensor.muls(u, d)"], lambda x: x * np.int32(64)),
    "row": ("INT32", "INT32", ["u = pl.tensor.slice(x, [1, 64], [3, 0])", "v = pl.tensor.muls(u, 1)",
                               "i = pl.tensor.ci(pl.const(63, pl.INT32), [1, 64], dtype=pl.INT32, descending=True)",
                               "r = pl.tensor.scatter(v, i, u, dim=-1)"], lambda x: x[3:4, ::-1]),
    "read": ("FP16", "FP32", ["u = pl.tensor.divs(x, -2.5)", "r = pl.tensor.cos(u)"],
             lambda x: np.cos(x.astype(np.float32) / np.float32(-2.5))),
}
NUMPY = {"INT32": np.int32, "INT16": np.int16, "FP16": np.float16, "FP32": np.float32}


def tensors(name, seed):
    source, dtype, lines, reference = TENSORS[name]
    values = np.random.default_rng(seed).integers(-9000, 9000, (16, 64))
    x = (values / 1000 if source == "FP16" else values).astype(NUMPY[source])
    wanted = np.ascontiguousarray(reference(x)).astype(NUMPY[dtype])

    def write(parts):
        given, y = parts.k.own(x, source), parts.k.own(np.zeros_like(wanted), dtype, True)
        shape = list(wanted.shape)
        parts.add("InCore", f"layout_{name}", f"x: pl.Tensor[{list(x.shape)}, pl.{source}], y: pl.InOut[pl.Tensor[{shape}, "
                  f"pl.{dtype}]]", lines + ["y = pl.tensor.assemble(y, r, [0, 0])"])
        parts.k.line(f"self.layout_{name}({given}, {y})")
        parts.k.wanted_own(Result(wanted, dtype, tol=1e-5 if name == "read" else 0), y)
    return Case(f"tensors: {name}", ["tensor.reinterpret_view", "tensor.muls"], write, "program")


def passed(seed):
    """The orchestration turns the tensor and looks at its bytes; a kernel takes the view."""
    x = np.random.default_rng(seed).integers(-9000, 9000, (16, 32)).astype(np.int32)
    wanted = np.ascontiguousarray(x.view(np.int16).T)

    def write(parts):
        given, y = parts.k.own(x, "INT32"), parts.k.own(np.zeros_like(wanted), "INT16", True)
        parts.add("InCore", "layout_passed", "x: pl.Tensor[[64, 16], pl.INT16, pl.TensorView(stride=[1, 64], "
                  "layout=pl.TensorLayout.DN)], y: pl.InOut[pl.Tensor[[64, 16], pl.INT16]]",
                  ["y = pl.tensor.assemble(y, x, [0, 0])"])
        t = parts.k.let(f"pl.tensor.transpose({given}, 0, 1)")
        r = parts.k.let(f"pl.tensor.reinterpret_view({t}, dtype=pl.INT16)")
        parts.k.line(f"self.layout_passed({r}, {y})")
        parts.k.wanted_own(Result(wanted, "INT16"), y)
    return Case("tensors: passed", ["tensor.reinterpret_view"], write, "program")


def long_rows(dtype, width):
    """Rows that are reduced side by side; of zeros of both signs the first counts."""
    x = np.random.default_rng(width).integers(-9, 10, (4, width)).astype(NUMPY[dtype])
    if dtype == "FP32":
        x[0] = -np.abs(x[0])
        x[0, width // 2:] = np.where(x[0, width // 2:] == 0, 0.0, x[0, width // 2:])
        x[0, 5], x[0, 7], x[1, 11] = -0.0, 0.0, 40.0
    ops = {"max": x.max(1), "min": x.min(1)}
    if dtype == "INT32":
        ops.update(sum=x.sum(1, dtype=np.int32), prod=(x | 1).prod(1, dtype=np.int32))
    wanted = np.zeros((4, 8 * len(ops)), NUMPY[dtype])
    for n, values in enumerate(ops.values()):
        wanted[:, 8 * n] = values
    if dtype == "FP32":
        wanted[0, 0] = x[0, np.flatnonzero(x[0] == 0)[0]]

    def write(parts):
        given, y = parts.k.own(x, dtype), parts.k.own(np.zeros_like(wanted), dtype, True)
        lines = [f"t = pl.load(x, [0, 0], [4, {width}])", f"w = pl.tile.create([4, {width}], dtype=pl.{dtype})"]
        for n, op in enumerate(ops):
            source = f"pl.tile.ors(t, pl.const(1, pl.{dtype}))" if op == "prod" else "t"
            lines.append(f"y = pl.store(pl.tile.row_{op}({source}, w), [0, {8 * n}], y)")
        parts.add("InCore", f"long_{dtype}{width}", f"x: pl.Tensor[[4, {width}], pl.{dtype}], "
                  f"y: pl.InOut[pl.Tensor[{list(wanted.shape)}, pl.{dtype}]]", lines)
        parts.k.line(f"self.long_{dtype}{width}({given}, {y})")
        # Bits, so that the sign of a zero counts.
        parts.k.wanted_own(Result(wanted, dtype) if dtype != "FP32" else Signed(wanted, dtype), y)
    return Case(f"long rows {dtype} {width}", [f"tile.row_{op}" for op in ops], write, "program")


def unread():
    """A scope whose result nobody reads still gets what it reads, in a program that no pass has seen."""
    x = np.arange(128, dtype=np.float32).reshape(4, 32)

    def write(parts):
        given, y = parts.k.own(x, "FP32"), parts.k.own(np.zeros_like(x), "FP32", True)
        t = parts.k.let(f"pl.tensor.adds({given}, 1.0)")
        parts.k.line("with pl.at(level=pl.Level.CORE_GROUP):")
        parts.k.line(f"    {t}_unread = pl.tensor.adds({t}, 1.0)")
        parts.add("InCore", "layout_copy", "x: pl.Tensor[[4, 32], pl.FP32], y: pl.InOut[pl.Tensor[[4, 32], pl.FP32]]",
                  ["y = pl.store(pl.load(x, [0, 0], [4, 32]), [0, 0], y)"])
        parts.k.line(f"self.layout_copy({given}, {y})")
        parts.k.wanted_own(Result(x, "FP32"), y)
    return Case("scope that nobody reads", ["tensor.adds"], write, "pipes")


class Signed(Result):
    def equal(self, got, want):
        return np.asarray(got).view(np.uint32) == np.asarray(want).view(np.uint32)


def cases():
    long = [long_rows(dtype, width) for dtype, width in (("FP32", 131), ("FP32", 640), ("INT32", 200), ("INT16", 1000))]
    views = [accumulator(), seen_otherwise(), turned(), replaced(), row_of_columns(), unread(), passed(50)]
    return long + views + [tensors(name, 40 + n) for n, name in enumerate(TENSORS)]
