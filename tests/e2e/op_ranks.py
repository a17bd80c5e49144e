"""The operations between ranks: one host program on three ranks, each collective once from the host and once in a kernel,
and everything that one rank does to another's window."""
import numpy as np

from op_batch import Batch, Case

P, W = 3, 32
F, I = "FP32", "INT32"  # noqa: E741


def sums(x):
    return np.broadcast_to(x.sum(0), x.shape)


def scattered(x):
    y = x.copy()
    for r in range(P):
        y[r, r] = x[:, r].sum(0)
    return y


# name, rows of the windows (input, target), call on the windows a and b with the signal s, expected from x [P, rows, W]
COLLECTIVES = [
    ("allreduce", 1, "a = pld.tensor.allreduce(a, s, op=pld.ReduceOp.Sum)", sums, "allreduce"),
    ("ring", 1, "a = pld.tensor.allreduce(a, s, op=pld.ReduceOp.Sum, mode=\"ring\")", sums, "allreduce_ring"),
    ("barrier", 1, "s = pld.tensor.barrier(s)", lambda x: x, "barrier"),
    ("broadcast", 1, "a = pld.tensor.broadcast(a, s, root=1)", lambda x: np.broadcast_to(x[1], x.shape), "broadcast"),
    ("reduce_scatter", P, "a = pld.tensor.reduce_scatter(a, s, op=pld.ReduceOp.Sum)", scattered, "reduce_scatter"),
    ("allgather", 1, "b = pld.tensor.allgather(a, b, s)", lambda x: np.broadcast_to(x[:, 0], (P, P, W)), "allgather"),
    ("all_to_all", P, "b = pld.tensor.all_to_all(a, b, s)", lambda x: x.transpose(1, 0, 2), "all_to_all"),
    ("all_to_all_v", P, "b = pld.tensor.all_to_all_v(a, b, s, c, d)", lambda x: x.transpose(1, 0, 2), "all_to_all_v"),
]


def window(rows, dtype=F):
    return f"pl.InOut[pld.DistributedTensor[[{rows}, {W if dtype == F else 1}], pl.{dtype}]]"


def tensor(rows, out=False, cols=W):
    text = f"pl.Tensor[[{rows}, {cols}], pl.FP32]"
    return f"pl.InOut[{text}]" if out else text


class Host:
    """The lines of functions and of the host's body, and the tensors of the host."""

    def __init__(self):
        self.functions, self.buffers, self.body, self.given, self.wanted = [], [], [], {}, {}

    def chip(self, name, parameters, body):
        """A kernel and the orchestration that starts it."""
        typed = ", ".join(f"{n}: {t}" for n, t in parameters)
        names = ", ".join(n for n, _ in parameters)
        self.functions += ["    @pl.function(type=pl.FunctionType.InCore)", f"    def {name}_kernel(self, {typed}):"]
        self.functions += ["        " + line for line in body]
        self.functions += ["", "    @pl.function(type=pl.FunctionType.Orchestration)", f"    def {name}(self, {typed}):",
                           f"        self.{name}_kernel({names})", ""]

    def window(self, name, rows, dtype=F):
        cols = W if dtype == F else 1
        self.buffers += [f"{name}_buf = pld.alloc_window_buffer([{rows}, {cols}], dtype=pl.{dtype})",
                         f"{name} = pld.window({name}_buf, [{rows}, {cols}], dtype=pl.{dtype})"]
        return name

    def tensor(self, name, array, out):
        (self.wanted if out else self.given)[name] = array

    def text(self):
        parameters = [f"{n}: pl.Tensor[{list(a.shape)}, pl.FP32]" for n, a in self.given.items()]
        parameters += [f"{n}: pl.InOut[pl.Tensor[{list(a.shape)}, pl.FP32]]" for n, a in self.wanted.items()]
        return "\n".join(
            ["import pypto.language as pl", "import pypto.language.distributed as pld", "", "@pl.program", "class Ranks:"]
            + self.functions + ["    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)",
                                f"    def host(self, {', '.join(parameters)}):"]
            + ["        " + line for line in self.buffers + self.body]) + "\n"


def collective(host, name, rows, call, expected, inside):
    """`inside`: in a kernel, else by the host."""
    full = f"{'in' if inside else 'host'}_{name}"
    result = "b" if name.startswith("all") and not name.startswith("allreduce") else "a"
    out_rows = P if result == "b" else rows
    x = np.random.default_rng(len(full)).integers(-16, 17, (P, rows, W)).astype(np.float32)
    host.tensor(f"x_{full}", x, False)
    host.tensor(f"y_{full}", np.ascontiguousarray(expected(x)), True)
    windows = [("a", rows, F)] + ([("b", P, F)] if result == "b" else [])
    # A ring has a row of signals a round, one more when the host starts it.
    rounds = 2 * (P - 1) + (0 if inside else 1)
    windows.append(("s", rounds if name == "ring" else P, I))
    if name == "all_to_all_v":
        windows += [("c", P, I), ("d", P, I)]
    types = {n: window(r, d) for n, r, d in windows}
    if name == "ring":
        types["s"] = f"pl.InOut[pld.DistributedTensor[[{rounds}, {P}], pl.INT32]]"
    flat = not inside and name in ("barrier", "broadcast", "reduce_scatter")  # these take a plain list of signals
    if flat:
        types["s"] = f"pl.InOut[pld.DistributedTensor[[{P}], pl.INT32]]"
    for n, r, d in windows:
        host.window(f"{n}_{full}", r, d)
    if flat:
        host.buffers[-2:] = [line.replace(f"[{P}, 1]", f"[{P}]") for line in host.buffers[-2:]]
    if name == "ring":
        host.buffers[-2:] = [line.replace(f"[{rounds}, 1]", f"[{rounds}, {P}]") for line in host.buffers[-2:]]
    fill = [f"t = pl.load(x, [0, 0], [{rows}, {W}])", "a = pl.store(t, [0, 0], a)"]
    if name == "all_to_all_v":
        fill += [f"c = pl.tensor.write(c, [{i}, 0], pl.const(1, pl.INT32))" for i in range(P)]
    empty = [f"u = pl.load({result}, [0, 0], [{out_rows}, {W}])", "y = pl.store(u, [0, 0], y)"]
    own = [(n, types[n]) for n, _, _ in windows]
    passed = ", ".join(f"{n}_{full}" for n, _, _ in windows)
    if inside:
        call = call.replace("(a, b, ", "(x, b, ")  # a kernel sends from a plain tensor
        host.chip(full, [("x", tensor(rows)), ("y", tensor(out_rows, True))] + own, fill + [call] + empty)
        host.body += [f"for r in pl.range({P}):", f"    self.{full}(x_{full}[r], y_{full}[r], {passed}, device=r)"]
        return
    host.chip(f"fill_{full}", [("x", tensor(rows))] + own, fill)
    host.chip(f"empty_{full}", [("y", tensor(out_rows, True))] + own, empty)
    for n, _, _ in windows:
        call = call.replace(f"({n},", f"({n}_{full},").replace(f"({n})", f"({n}_{full})")
        call = call.replace(f" {n},", f" {n}_{full},").replace(f" {n})", f" {n}_{full})")
        if call.startswith(f"{n} ="):
            call = f"{n}_{full}" + call[1:]
    host.body += [f"for r in pl.range({P}):", f"    self.fill_{full}(x_{full}[r], {passed}, device=r)", call,
                  f"for r in pl.range({P}):", f"    self.empty_{full}(y_{full}[r], {passed}, device=r)"]


def between(host, tensors):
    """Stores, loads, puts and gets of a neighbour's window; every rank is told when its own has arrived. `tensors`: puts
    and gets as operations on tensors, which need no stage."""
    level, stage = ("tensor", "") if tensors else ("tile", "stage=stage, ")
    put = [f"pld.{level}.put(box, peer=nxt, src=x, {stage}dst_offsets=[2, 0], src_offsets=[0, 0], shape=[1, {W}])",
           f"pld.{level}.put(total, peer=prv, src=x, {stage}dst_offsets=[0, 0], src_offsets=[0, 0], shape=[1, {W}], "
           "atomic=pld.AtomicType.Add)"]
    get = f"pld.{level}.get(y, peer=nxt, src=box, {stage}dst_offsets=[5, 0], src_offsets=[0, 0], shape=[1, {W}])"
    x = np.random.default_rng(7).integers(-16, 17, (P, 1, W)).astype(np.float32)
    left, right = np.roll(x, 1, 0), np.roll(x, -1, 0)
    rank = np.zeros((P, 1, W), np.float32)
    rank[:, 0, 0], rank[:, 0, 1] = np.arange(P), P
    host.tensor("x_rma", x, False)
    # What the neighbour on the left stores and puts, twice each, what the one on the right holds, and the sum of all.
    everything = sums(x)
    host.tensor("y_rma", np.concatenate([left, left, left, left, right, right, right, 2 * everything, rank], 1), True)
    host.tensor("y_late", left, True)
    host.window("box", 5)
    host.window("total", 1)
    host.window("told", 8, I)
    host.window("late", 1)
    host.window("late_told", 1, I)
    types = [("x", tensor(1)), ("y", tensor(9, True)), ("box", window(5)), ("total", window(1)), ("told", window(8, I))]
    meet = ["pld.system.notify(told, peer=nxt, offsets=[{0}, 0], value=1, op=pld.NotifyOp.AtomicAdd)",
            "pld.system.notify(told, peer=prv, offsets=[{0}, 0], value=1, op=pld.NotifyOp.AtomicAdd)",
            "pld.system.wait(told, offsets=[{0}, 0], expected=2, cmp=pld.WaitCmp.Ge)"]
    body = ["ctx = pld.system.get_comm_ctx(box)", "me = pld.system.rank(ctx)", "n = pld.system.nranks(ctx)",
            "nxt = (me + 1) % n", "prv = (me + n - 1) % n", f"t = pl.load(x, [0, 0], [1, {W}])",
            "box = pl.store(t, [0, 0], box)",
            "pld.tile.remote_store(t, box, peer=nxt, offsets=[1, 0])",
            f"stage = pl.tile.create([1, {W}], dtype=pl.FP32)",
            put[0],
            "pld.tile.put(box, peer=nxt, src=x, stage=stage, dst_offsets=[3, 0], src_offsets=[0, 0], "
            f"shape=[1, {W}])",
            "h = pl.tile.muls(t, 2.0)",
            "pld.tile.remote_store(h, box, peer=nxt, offsets=[4, 0])",
            # Every rank adds to everyone's total.
            "pld.tile.remote_store(t, total, peer=me, offsets=[0, 0], atomic=pld.AtomicType.Add)",
            "pld.tile.remote_store(t, total, peer=nxt, offsets=[0, 0], atomic=pld.AtomicType.Add)",
            put[1]]
    body += [line.format(0) for line in meet]
    body += [f"l1 = pl.load(box, [1, 0], [1, {W}])", "y = pl.store(l1, [0, 0], y)",
             f"l2 = pl.load(box, [2, 0], [1, {W}])", "y = pl.store(l2, [1, 0], y)",
             f"l3 = pl.load(box, [3, 0], [1, {W}])", "y = pl.store(l3, [2, 0], y)",
             f"l4 = pl.load(box, [4, 0], [1, {W}])", "l5 = pl.tile.muls(l4, 0.5)", "y = pl.store(l5, [3, 0], y)",
             f"r1 = pld.tile.remote_load(box, peer=nxt, offsets=[0, 0], shape=[1, {W}])",
             "y = pl.store(r1, [4, 0], y)",
             get,
             f"pld.tile.get(y, peer=nxt, src=box, stage=stage, dst_offsets=[6, 0], src_offsets=[0, 0], shape=[1, {W}])",
             f"s1 = pl.load(total, [0, 0], [1, {W}])", "s2 = pl.tile.muls(s1, 2.0)", "y = pl.store(s2, [7, 0], y)",
             "y = pl.tensor.write(y, [8, 0], pl.cast(me, pl.FP32))",
             "y = pl.tensor.write(y, [8, 1], pl.cast(n, pl.FP32))"]
    # Windows are read by neighbours until all are here.
    body += [line.format(1) for line in meet]
    host.chip("rma", types, body)
    late = [("x", tensor(1)), ("late", window(1)), ("told", window(1, I))]
    host.chip("send", late, ["ctx = pld.system.get_comm_ctx(late)",
                             "nxt = (pld.system.rank(ctx) + 1) % pld.system.nranks(ctx)",
                             f"t = pl.load(x, [0, 0], [1, {W}])",
                             "pld.tile.remote_store(t, late, peer=nxt, offsets=[0, 0])",
                             "pld.system.notify(told, peer=nxt, offsets=[0, 0], value=1, op=pld.NotifyOp.Set)",
                             "pld.system.defer_wait(told, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)"])
    host.chip("take", [("y", tensor(1, True)), ("late", window(1))],
              [f"t = pl.load(late, [0, 0], [1, {W}])", "y = pl.store(t, [0, 0], y)"])
    host.body += ["for r in pl.range(pld.system.world_size()):", "    self.rma(x_rma[r], y_rma[r], box, total, told, device=r)",
                  "for r in pl.range(pld.system.world_size()):", "    self.send(x_rma[r], late, late_told, device=r)",
                  "for r in pl.range(pld.system.world_size()):", "    self.take(y_late[r], late, device=r)"]


def store_tensor(host):
    """pld.tensor.remote_store: a value that was computed on tensors."""
    x = np.random.default_rng(9).integers(-16, 17, (P, 1, W)).astype(np.float32)
    host.tensor("x_st", x, False)
    host.tensor("y_st", np.roll(2 * x, 1, 0), True)
    host.window("st", 1)
    host.window("st_told", P, I)
    host.chip("st_send", [("x", tensor(1)), ("y", tensor(1, True)), ("w", window(1)), ("s", window(P, I))],
              ["ctx = pld.system.get_comm_ctx(w)", "nxt = (pld.system.rank(ctx) + 1) % pld.system.nranks(ctx)",
               "t = pl.tensor.add(x, x)", "pld.tensor.remote_store(t, w, peer=nxt, offsets=[0, 0])",
               "s = pld.tensor.barrier(s)", f"u = pl.tensor.slice(w, [1, {W}], [0, 0])",
               "v = pl.tensor.muls(u, 1.0)", "y = pl.tensor.assemble(y, v, [0, 0])"])
    host.body += [f"for r in pl.range({P}):", "    self.st_send(x_st[r], y_st[r], st, st_told, device=r)"]


def run(pldc, work, name, host, cases, cxxflags):
    """Builds and runs; every case has its outputs by prefix."""
    path, tree = work / f"{name}.pld", work / name
    path.write_text(host.text())
    batch = Batch(pldc, work)
    made = batch.call([pldc, "build", "--emit-only", str(path), "-o", str(tree)])
    if made.returncode == 0:
        batch.lend_runtime(tree)
        made = batch.call(["make", "-s", "-j2", "-C", str(tree), f"CXXFLAGS={cxxflags}", "all"])
    if made.returncode != 0:
        refused = made.returncode == 1 and "PLD" in made.stdout
        for case, _ in cases:
            case.outcome = f"{'refused' if refused else 'failed'}: {made.stdout[:500]}"
        return
    command = [str(tree / "bin" / name), "--ranks", str(P), "--timeout=60", "--check=signals,bounds"]
    if name.startswith("rank_rma"):  # its signals stay set
        command[-1] = "--check=bounds"
    for key, array in host.given.items():
        np.save(work / f"{key}.npy", array)
        command += ["--in", f"{key}={work}/{key}.npy"]
    for key, array in host.wanted.items():
        np.save(work / f"{key}.npy", np.zeros_like(array))
        command += ["--in", f"{key}={work}/{key}.npy", "--out", f"{key}={work}/{key}.out.npy"]
    done = Batch.call(command)
    for case, prefixes in cases:
        case.outcome = f"failed: {done.stdout[-1500:]}" if done.returncode != 0 else "passed"
        for key, array in host.wanted.items():
            if done.returncode == 0 and key in prefixes:
                got = np.load(work / f"{key}.out.npy")
                if not np.array_equal(got, array):
                    case.outcome = f"failed: {key} differs, first at {np.argwhere(got != array)[0].tolist()}"


def cases(pldc, work, cxxflags):
    out = []
    host, mine = Host(), []
    for inside in (False, True):
        for name, rows, call, expected, builtin in COLLECTIVES:
            collective(host, name, rows, call, expected, inside)
            leaf = "allreduce" if name == "ring" else name
            ops = [f"pld.tensor.{leaf}"] + ([] if inside else [f"builtin.tensor.{builtin}"])
            case = Case(f"ranks {'in a kernel' if inside else 'host'} {name}", ops, None)
            mine.append((case, [f"y_{'in' if inside else 'host'}_{name}"]))
    run(pldc, work, "rank_collectives", host, mine, cxxflags)
    out += [case for case, _ in mine]
    system = ["pld.system." + leaf for leaf in ("notify", "wait", "defer_wait", "rank", "nranks", "get_comm_ctx",
                                                "world_size")]
    system += ["pld.tensor.window", "pld.tensor.alloc_window_buffer"]
    for tensors in (False, True):
        host = Host()
        between(host, tensors)
        ops = ["pld.tensor.put", "pld.tensor.get"] if tensors else \
            system + [f"pld.tile.{leaf}" for leaf in ("remote_store", "remote_load", "put", "get")]
        case = Case(f"ranks one-sided{' on tensors' if tensors else ''}", ops, None)
        run(pldc, work, f"rank_rma{'_tensors' if tensors else ''}", host, [(case, ["y_rma", "y_late"])], cxxflags)
        out.append(case)
    host = Host()
    store_tensor(host)
    store = Case("ranks store of a tensor", ["pld.tensor.remote_store"], None)
    run(pldc, work, "rank_store", host, [(store, ["y_st"])], cxxflags)
    return out + [store]
