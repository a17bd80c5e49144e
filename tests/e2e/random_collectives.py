"""Random host functions that call collectives one after the other, on the host and in kernels, between dispatches that compute:
all seven of the host, with every reduction and dtype that each takes.

Every rank has a row. Sums and products stay exact: after each the row is brought back between -4 and 4, in eighths, and
products are made of signs."""
import numpy as np

from random_table import makes

KINDS = {"FP32": np.float32, "FP16": np.float16, "INT32": np.int32}
REDUCE = {"Sum": lambda v: v.sum(0), "Max": lambda v: v.max(0), "Min": lambda v: v.min(0), "Prod": lambda v: v.prod(0)}
FOLD = {"add": lambda v: v.sum(1), "maximum": lambda v: v.max(1), "minimum": lambda v: v.min(1)}
P = "pld.world_size()"


@makes(hosts="pld.tensor.allgather pld.tensor.all_to_all pld.tensor.all_to_all_v pld.tensor.reduce_scatter")
class CollectiveProgram:
    """`text()`, and `value`, which maps the rows of all ranks, [ranks, width], to the results of all ranks. `ranks`: the only
    number of ranks that it is for, or 0."""

    def __init__(self, rng, index):
        self.rng, self.index = rng, index
        self.kind = self.choice(["FP32", "FP32", "FP16", "INT32"])
        self.width = int(self.choice([1, 7, 16, 33, 40, 64]))
        self.ranks = int(self.choice([2, 3, 4])) if self.kind == "FP32" and rng.random() < 0.2 else 0
        self.functions, self.lines, self.effects, self.windows = [], [], [], 0
        self.scratch = ""  # the type of a rank's part of the host's tensor for what goes out
        self.row = f"pl.Tensor[[1, {self.width}], pl.{self.kind}]"
        self.w = self.window("1", self.width)
        self.dispatch("put", [("x", self.row, "xs[r]")], [], self.copy("x", "w"))
        host = {"FP32": [self.allreduce, self.allreduce, self.broadcast, self.barrier, self.allgather, self.all_to_all,
                         self.reduce_scatter], "FP16": [self.allreduce, self.barrier], "INT32": [self.barrier]}[self.kind]
        if self.ranks:
            host += [self.all_to_all_v, self.all_to_all_v]
        kernel = [self.in_kernel] * 2 + ([self.allreduce_in_kernel] if self.kind != "INT32" else [])
        for _ in range(int(rng.integers(1, 5))):
            self.choice(host + [self.choice(kernel), self.local])()
        self.dispatch("take", [("y", f"pl.Out[{self.row}]", "ys[r]")], [], self.copy("w", "y"))

    def choice(self, items):
        return items[int(self.rng.integers(len(items)))]

    def value(self, rows):
        for effect in self.effects:
            rows = effect(rows).astype(rows.dtype)
        return rows

    # ---- what a host has
    def window(self, rows, cols, kind=None):
        """A window of a new allocation: its name."""
        self.windows += 1
        name, kind = f"w{self.windows}", kind or self.kind
        rows = rows.replace(P, str(self.ranks)) if self.ranks else rows
        size = f"({rows}) * {cols} * {np.dtype(KINDS[kind]).itemsize}".replace("(1) * ", "")
        shape = f"[{rows}]" if cols == 1 and kind == "INT32" and rows.endswith(" ") else f"[{rows}, {cols}]"
        self.lines += [f"b{self.index}_{name} = pld.alloc_window_buffer({size})",
                       f"{name} = pld.window(b{self.index}_{name}, {shape}, dtype=pl.{kind})"]
        return name

    def square(self):
        return self.window(P, self.width)

    def signal(self, flat=False, ring=0):
        """[P, 1], [P], or the rows of a ring."""
        if ring:
            return self.window(f"2 * ({P} - 1) + {ring - 1}".removesuffix(" + 0"), P if not self.ranks else str(self.ranks), "INT32")
        return self.window(P + (" " if flat else ""), 1, "INT32")

    def dispatch(self, what, tensors, windows, body):
        """A kernel of all ranks: parameters (name, type, argument) beside the window `w` of the row, more windows."""
        name = f"{what}{self.index}_{len(self.functions)}"
        parameters = [(n, t) for n, t, _ in tensors] + [("w", self.window_type("1"))] + \
            [(n, f"pl.InOut[pld.DistributedTensor[{shape}, pl.{kind}]]") for n, shape, kind, _ in windows]
        text = ", ".join(f"{n}: {t}" for n, t in parameters)
        head = ["ctx = pld.get_comm_ctx(w)", "me = pl.cast(pld.rank(ctx), pl.INDEX)", "n = pl.cast(pld.nranks(ctx), pl.INDEX)"]
        self.functions.append("\n".join(
            ["    @pl.function(type=pl.FunctionType.InCore)", f"    def k{name}(self, {text}):"] +
            ["        " + line for line in (head if any("me" in line or " n" in line or "(n" in line for line in body) else []) + body] +
            ["", "    @pl.function(type=pl.FunctionType.Orchestration)", f"    def {name}(self, {text}):",
             f"        self.k{name}({', '.join(n for n, _ in parameters)})", ""]))
        arguments = ", ".join([a for _, _, a in tensors] + [self.w] + [a for _, _, _, a in windows])
        self.lines += [f"for r in pl.range({self.ranks or P}):", f"    self.{name}({arguments}, device=r)"]

    def window_type(self, rows):
        return f"pl.InOut[pld.DistributedTensor[[{rows}, {self.width}], pl.{self.kind}]]"

    def load(self, name, row="0"):
        return f"pl.load({name}, [{row}, 0], [1, {self.width}])"

    def copy(self, source, target):
        return [f"{target} = pl.store({self.load(source)}, [0, 0], {target})"]

    def number(self, value):
        return f"pl.const({int(value) if self.kind == 'INT32' else float(value)}, pl.{self.kind})"

    def between(self, name):
        """Brings a tile back between -4 and 4."""
        return [f"{name} = pl.tile.maximums(pl.tile.minimums({name}, {self.number(4)}), {self.number(-4)})"]

    # ---- steps
    def local(self):
        op, s = self.choice([("adds", np.add), ("subs", np.subtract), ("muls", np.multiply)]), self.choice([-1, 1, 2])
        self.dispatch("local", [], [], [f"t = pl.tile.{op[0]}({self.load('w')}, {self.number(s)})", *self.between("t"),
                                        "w = pl.store(t, [0, 0], w)"])
        self.effects.append(lambda v: np.clip(op[1](v, s), -4, 4))

    def signs(self):
        self.dispatch("signs", [], [], [f"t = pl.tile.muls({self.load('w')}, {self.number(1000)})",
                                        f"t = pl.tile.maximums(pl.tile.minimums(t, {self.number(1)}), {self.number(-1)})",
                                        "w = pl.store(t, [0, 0], w)"])
        self.effects.append(np.sign)

    def reduced(self, op):
        """Everybody has the reduction; what is too large for the next step comes back."""
        self.effects.append(lambda v: np.broadcast_to(REDUCE[op](v), v.shape))
        if op == "Sum":
            self.local()

    def reduction(self):
        op = self.choice(list(REDUCE))
        if op == "Prod":
            self.signs()
        return op

    def allreduce(self):
        ring = self.kind == "FP32" and self.rng.random() < 0.35
        op = "Sum" if ring else self.reduction()
        times = 2 if op in ("Max", "Min") and self.rng.random() < 0.4 else 1
        signal = self.signal(ring=2) if ring else self.signal()
        call = f"{self.w} = pld.tensor.allreduce({self.w}, {signal}, op=pld.ReduceOp.{op}{', mode=chr'.replace('chr', repr('ring')) if ring else ''})"
        self.lines += [f"for again in pl.range({times}):", "    " + call] if times > 1 else [call]
        self.reduced(op)

    def allreduce_in_kernel(self):
        ring = self.rng.random() < 0.4
        op = self.reduction()
        shape, signal = ("[ROUNDS, NR]", self.signal(ring=1)) if ring else ("[NR, 1]", self.signal())
        self.dispatch("reduce", [], [("sig", shape.replace("NR", str(self.ranks or "NR")), "INT32", signal)],
                      [f"w = pld.tensor.allreduce(w, sig, op=pld.ReduceOp.{op}, mode='{'ring' if ring else 'mesh'}')"])
        self.reduced(op)

    def broadcast(self):
        self.lines.append(f"{self.w} = pld.tensor.broadcast({self.w}, {self.signal(flat=True)}, root=0)")
        self.effects.append(lambda v: np.broadcast_to(v[0], v.shape))

    def barrier(self):
        """Of the ranks that a dispatch gives the signal to."""
        signal = self.signal(flat=True)
        self.dispatch("signalled", [], [("sig", f"[{self.ranks or 'NR'}]", "INT32", signal)], self.copy("w", "w"))
        self.lines.append(f"{signal} = pld.tensor.barrier({signal})")

    def square_type(self, name, argument):
        return (name, f"[{self.ranks or 'NR'}, {self.width}]", self.kind, argument)

    def fill(self, window):
        """Rows of a square window: the own row, and its opposite at odd places."""
        self.dispatch("fill", [], [self.square_type("o", window)], self.filling("o"))

    def filling(self, name):
        return [f"t = {self.load('w')}", "for row in pl.range(0, n, 2):", f"    {name} = pl.store(t, [row, 0], {name})",
                "for row in pl.range(1, n, 2):", f"    {name} = pl.store(pl.tile.muls(t, {self.number(-1)}), [row, 0], {name})"]

    @staticmethod
    def filled(v):
        """[P, P, width]: rank, row."""
        signs = np.where(np.arange(len(v)) % 2 == 1, -1, 1).astype(v.dtype)
        return v[:, None, :] * signs[None, :, None]

    def folding(self, name):
        """The row becomes what a square holds: one of its rows, or a reduction of all; the function of [P, P, width]."""
        if self.rng.random() < 0.4:
            d = int(self.rng.integers(0, 3))
            return ([f"t = {self.load(name, f'(me + {d}) % n')}", *self.between("t"), "w = pl.store(t, [0, 0], w)"],
                    lambda o: np.clip(np.stack([o[r, (r + d) % len(o)] for r in range(len(o))]), -4, 4))
        op = self.choice(list(FOLD))
        return ([f"t = {self.load(name)}", "for row in pl.range(1, n):", f"    t = pl.tile.{op}(t, {self.load(name, 'row')})",
                 *self.between("t"), "w = pl.store(t, [0, 0], w)"], lambda o: np.clip(FOLD[op](o), -4, 4))

    def fold(self, window, made):
        body, function = self.folding("o")
        self.dispatch("fold", [], [self.square_type("o", window)], body)
        self.effects.append(lambda v: function(made(v).astype(v.dtype)))

    def allgather(self):
        o = self.square()
        self.lines.append(f"{o} = pld.tensor.allgather({self.w}, {o}, {self.signal()})")
        self.fold(o, lambda v: np.broadcast_to(v, (len(v),) + v.shape))

    def all_to_all(self):
        i, o = self.square(), self.square()
        self.fill(i)
        self.lines.append(f"{o} = pld.tensor.all_to_all({i}, {o}, {self.signal()})")
        self.fold(o, lambda v: self.filled(v).transpose(1, 0, 2))

    @staticmethod
    def scattered(v):
        rows = CollectiveProgram.filled(v).copy()
        sums = rows.sum(0)
        for r in range(len(v)):
            rows[r, r] = sums[r]
        return rows

    def reduce_scatter(self):
        o = self.square()
        self.fill(o)
        self.lines.append(f"{o} = pld.tensor.reduce_scatter({o}, {self.signal(flat=True)}, op=pld.ReduceOp.Sum)")
        self.fold(o, self.scattered)

    def all_to_all_v(self):
        """One row a block, which moves whatever the counts say; they arrive with it."""
        i, o = self.square(), self.square()
        c, r = self.window(P, 1, "INT32"), self.window(P, 1, "INT32")
        self.fill(i)
        self.dispatch("count", [], [("c", f"[{self.ranks}, 1]", "INT32", c)], [
            "for row in pl.range(n):", "    if (me + row) % 2 == 0:", "        pl.write(c, [row, 0], pl.const(1, pl.INT32))"])
        self.lines.append(f"{o} = pld.tensor.all_to_all_v({i}, {o}, {self.signal()}, {c}, {r})")
        self.fold(o, lambda v: self.filled(v).transpose(1, 0, 2))
        # The counts are symmetric: what came in is what went out.
        self.dispatch("received", [], [(n, f"[{self.ranks}, 1]", "INT32", a) for n, a in (("c", c), ("e", r))], [
            f"t = {self.load('w')}", "for row in pl.range(n):",
            "    if pl.read(c, [row, 0]) != pl.read(e, [row, 0]):", f"        t = pl.tile.adds(t, {self.number(100)})",
            "w = pl.store(t, [0, 0], w)"])

    def in_kernel(self):
        what = self.choice(["broadcast", "allgather", "all_to_all", "reduce_scatter", "barrier"])
        sig = ("sig", f"[{self.ranks or 'NR'}, 1]", "INT32", self.signal())
        if what == "barrier":
            return self.dispatch("meet", [], [sig], ["sig = pld.tensor.barrier(sig)"])
        if what == "broadcast":
            # Nothing tells the root that its peers have read: it would write its next value too early.
            self.dispatch("spread", [], [sig], ["w = pld.tensor.broadcast(w, sig, root=0)", "sig = pld.tensor.barrier(sig)"])
            return self.effects.append(lambda v: np.broadcast_to(v[0], v.shape))
        o = self.square_type("o", self.square())
        body, function = self.folding("o")
        if what == "allgather":
            self.dispatch("gather", [("y", f"pl.Out[{self.row}]", "ys[r]")], [o, sig], self.copy("w", "y") + [
                "o = pld.tensor.allgather(y, o, sig)"] + body)
            made = lambda v: np.broadcast_to(v, (len(v),) + v.shape)  # noqa: E731
        elif what == "all_to_all":
            # What goes out is a plain tensor there.
            self.scratch = f"pl.Tensor[[{self.ranks or 'NR'}, {self.width}], pl.{self.kind}]"
            self.dispatch("exchange", [("i", f"pl.Out[{self.scratch}]", "zs[r]")], [o, sig],
                          self.filling("i") + ["o = pld.tensor.all_to_all(i, o, sig)"] + body)
            made = lambda v: self.filled(v).transpose(1, 0, 2)  # noqa: E731
        else:
            self.dispatch("scatter", [], [o, sig], self.filling("o") + [
                "o = pld.tensor.reduce_scatter(o, sig, op=pld.ReduceOp.Sum)"] + body)
            made = self.scattered
        return self.effects.append(lambda v: function(made(v).astype(v.dtype)))

    # ---- text
    def text(self):
        rows = f"pl.Tensor[[{self.ranks or 'NR'}, 1, {self.width}], pl.{self.kind}]"
        nr = self.ranks or "NR"
        more = self.scratch and f", zs: pl.Out[{self.scratch.replace('[[', f'[[{nr}, ')}]"
        return "\n".join(self.functions + [
            f"    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n    def host{self.index}(self, xs: {rows}, "
            f"ys: pl.Out[{rows}]{more}) -> {rows}:"] + ["        " + line for line in self.lines] + ["        return ys", "", ""])
