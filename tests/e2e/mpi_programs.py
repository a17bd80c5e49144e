"""Programs of mpi.py: what ranks do to windows and to host memory that differs between threads and processes."""

# Indivisible additions of four types, three of which MPI cannot do by itself or not as ours wrap, to boxes inside of rows that
# begin in the middle of a word.
ADDS = '''import pypto.language as pl
import pypto.language.distributed as pld

RANKS = pl.dynamic("RANKS")

@pl.program
class Adds:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[2, 32], pl.FP16], b: pl.Tensor[[2, 32], pl.BF16], i: pl.Tensor[[2, 32], pl.INT32], s: pl.Tensor[[2, 32], pl.INT16],
               y: pl.Out[pl.Tensor[[2, 96], pl.FP16]], z: pl.Out[pl.Tensor[[2, 96], pl.BF16]], j: pl.Out[pl.Tensor[[2, 96], pl.INT32]], t: pl.Out[pl.Tensor[[2, 96], pl.INT16]],
               wx: pl.InOut[pld.DistributedTensor[[2, 96], pl.FP16]], wb: pl.InOut[pld.DistributedTensor[[2, 96], pl.BF16]],
               wi: pl.InOut[pld.DistributedTensor[[2, 96], pl.INT32]], ws: pl.InOut[pld.DistributedTensor[[2, 96], pl.INT16]],
               sig: pl.InOut[pld.DistributedTensor[[RANKS, 1], pl.INT32]]):
        ctx = pld.get_comm_ctx(wx)
        n = pld.nranks(ctx)
        for peer in pl.range(n):
            pld.tile.remote_store(pl.load(x, [0, 0], [2, 32]), wx, peer=peer, offsets=[0, 33], atomic=pld.AtomicType.Add)
            pld.tile.remote_store(pl.load(b, [0, 0], [2, 32]), wb, peer=peer, offsets=[0, 32], atomic=pld.AtomicType.Add)
            pld.tile.remote_store(pl.load(i, [0, 0], [2, 32]), wi, peer=peer, offsets=[0, 32], atomic=pld.AtomicType.Add)
            pld.tile.remote_store(pl.mul(pl.load(s, [0, 0], [2, 32]), 9001), ws, peer=peer, offsets=[0, 33], atomic=pld.AtomicType.Add)
        sig = pld.tensor.barrier(sig)
        y = pl.store(pl.load(wx, [0, 0], [2, 96]), [0, 0], y)
        z = pl.store(pl.load(wb, [0, 0], [2, 96]), [0, 0], z)
        j = pl.store(pl.load(wi, [0, 0], [2, 96]), [0, 0], j)
        t = pl.store(pl.load(ws, [0, 0], [2, 96]), [0, 0], t)

    @pl.function(type=pl.FunctionType.Orchestration)
    def chip(self, x: pl.Tensor[[2, 32], pl.FP16], b: pl.Tensor[[2, 32], pl.BF16], i: pl.Tensor[[2, 32], pl.INT32], s: pl.Tensor[[2, 32], pl.INT16],
               y: pl.Out[pl.Tensor[[2, 96], pl.FP16]], z: pl.Out[pl.Tensor[[2, 96], pl.BF16]], j: pl.Out[pl.Tensor[[2, 96], pl.INT32]], t: pl.Out[pl.Tensor[[2, 96], pl.INT16]],
               wx: pl.InOut[pld.DistributedTensor[[2, 96], pl.FP16]], wb: pl.InOut[pld.DistributedTensor[[2, 96], pl.BF16]],
               wi: pl.InOut[pld.DistributedTensor[[2, 96], pl.INT32]], ws: pl.InOut[pld.DistributedTensor[[2, 96], pl.INT16]],
               sig: pl.InOut[pld.DistributedTensor[[RANKS, 1], pl.INT32]]):
        self.kernel(x, b, i, s, y, z, j, t, wx, wb, wi, ws, sig)

    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(self, x: pl.Tensor[[RANKS, 2, 32], pl.FP16], b: pl.Tensor[[RANKS, 2, 32], pl.BF16], i: pl.Tensor[[RANKS, 2, 32], pl.INT32], s: pl.Tensor[[RANKS, 2, 32], pl.INT16],
             y: pl.Out[pl.Tensor[[RANKS, 2, 96], pl.FP16]], z: pl.Out[pl.Tensor[[RANKS, 2, 96], pl.BF16]], j: pl.Out[pl.Tensor[[RANKS, 2, 96], pl.INT32]], t: pl.Out[pl.Tensor[[RANKS, 2, 96], pl.INT16]]):
        bx = pld.alloc_window_buffer(2 * 96 * 2)
        bb = pld.alloc_window_buffer(2 * 96 * 2)
        bi = pld.alloc_window_buffer(2 * 96 * 4)
        bs = pld.alloc_window_buffer(2 * 96 * 2)
        bsig = pld.alloc_window_buffer(pld.world_size() * 4)
        for r in pl.range(pld.world_size()):
            wx = pld.window(bx, [2, 96], dtype=pl.FP16)
            wb = pld.window(bb, [2, 96], dtype=pl.BF16)
            wi = pld.window(bi, [2, 96], dtype=pl.INT32)
            ws = pld.window(bs, [2, 96], dtype=pl.INT16)
            sig = pld.window(bsig, [pld.world_size(), 1], dtype=pl.INT32)
            self.chip(x[r], b[r], i[r], s[r], y[r], z[r], j[r], t[r], wx, wb, wi, ws, sig, device=r)
'''



def _row(name, where, more=""):
    """A kernel that stores a row of z, and its orchestration."""
    return f'''
    @pl.function(type=pl.FunctionType.InCore)
    def k{name}(self, x: pl.Tensor[[1, 32], pl.FP32], z: pl.Out[pl.Tensor[[4, 32], pl.FP32]], row: pl.Scalar[pl.INDEX]):
        z = pl.store(pl.load(x, [0, 0], [1, 32]), [{where}, 0], z{more})

    @pl.function(type=pl.FunctionType.Orchestration)
    def {name}(self, x: pl.Tensor[[1, 32], pl.FP32], z: pl.Out[pl.Tensor[[4, 32], pl.FP32]], row: pl.Scalar[pl.INDEX]):
        self.k{name}(x, z, row)
'''


def _host(name, *body):
    return f'''
    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def {name}(self, x: pl.Tensor[[4, 1, 32], pl.FP32], y: pl.Out[pl.Tensor[[4, 1, 32], pl.FP32]], z: pl.Out[pl.Tensor[[4, 32], pl.FP32]]):
''' + "".join(f"        {line}\n" for line in body)


# Host functions: `shared` has columns of a tensor updated by each rank, rows of another written by each, and reads on the host
# what ranks computed; the others use host
# memory in ways that processes cannot.
HOST_MEMORY = '''import pypto.language as pl
import pypto.language.distributed as pld

@pl.program
class HostMemory:
    @pl.function(type=pl.FunctionType.InCore)
    def kadd(self, x: pl.Tensor[[1, 32], pl.FP32], y: pl.InOut[pl.Tensor[[1, 32], pl.FP32]]):
        y = pl.store(pl.add(pl.load(x, [0, 0], [1, 32]), pl.load(y, [0, 0], [1, 32])), [0, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def add(self, x: pl.Tensor[[1, 32], pl.FP32], y: pl.InOut[pl.Tensor[[1, 32], pl.FP32]]):
        self.kadd(x, y)

    @pl.function(type=pl.FunctionType.InCore)
    def kcolumns(self, x: pl.Tensor[[4, 1, 8], pl.FP32], y: pl.InOut[pl.Tensor[[4, 1, 8], pl.FP32]]):
        y = pl.store(pl.add(pl.load(x, [0, 0, 0], [4, 1, 8]), pl.load(y, [0, 0, 0], [4, 1, 8])), [0, 0, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def columns(self, x: pl.Tensor[[4, 1, 8], pl.FP32], y: pl.InOut[pl.Tensor[[4, 1, 8], pl.FP32]]):
        self.kcolumns(x, y)
''' + _row("put_row", "row") + _row("put_first", "0") + _row("add_first", "0", ", atomic=pl.AtomicType.Add") + _host(
    "shared",
    "for r in pl.range(4):",
    "    self.columns(x[0:4, 0:1, r * 8:r * 8 + 8], y[0:4, 0:1, r * 8:r * 8 + 8], device=r)",
    "for r in pl.range(4):",
    "    self.columns(x[0:4, 0:1, r * 8:r * 8 + 8], y[0:4, 0:1, r * 8:r * 8 + 8], device=r)",
    "y = pl.tensor.assemble(y, pl.tensor.slice(y, [1, 1, 32], [1, 0, 0]), [2, 0, 0])",
    "if pl.tensor.read(y, [0, 0, 0]) == pl.tensor.read(x, [0, 0, 0]) * 2.0:",
    "    pl.tensor.write(y, [3, 0, 31], 100.0)",
    "for r in pl.range(4):",
    "    self.put_row(x[r], z, r, device=r)",
) + _host(
    "unknown",
    "self.add(x[0], y[0], device=0)",
    "t = x",
    "if pld.world_size() > 3:",
    "    t = y",
    "self.add(t[0], y[1], device=1)",
) + _host("one_place", "for r in pl.range(4):", "    self.put_first(x[r], z, r, device=r)") + _host(
    "added", "for r in pl.range(4):", "    self.add_first(x[r], z, r, device=r)") + '''
    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def own(self, x: pl.Tensor[[4, 1, 32], pl.FP32], u: pl.InOut[pl.Tensor[[3, 4, 32], pl.FP32]]):
        for r in pl.range(pld.world_size()):
            for k in pl.range(3):
                self.add(x[r], u[k:k + 1, r], device=r)
'''
