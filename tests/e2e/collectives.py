#!/usr/bin/env python3
"""Every collective on grids of ranks, reductions, dtypes and sizes: right values on every rank against numpy, and signals that
are zero when the run ends. Many dispatches stand in one program, because compiling is what costs.

    collectives.py --pldc=build/src/driver/pldc [--full] [--work=DIR] [-k TEXT]

Without --full (or PLDC_TEST_STAGES=all): a fixed sample. The last line is `N passed, N failed`.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

SIZES = (1, 17, 255, 256, 257, 4097, 100000)
RANKS = (1, 2, 3, 4, 8, 16)
OPS = {'Sum': np.add, 'Max': np.maximum, 'Min': np.minimum, 'Prod': np.multiply}
DTYPES = {'FP32': np.float32, 'FP16': np.float16, 'INT32': np.int32}
TILE = 4096
STAGE_BYTES = 196608  # the vector buffer
CAP = 2  # rows of a block of all_to_all_v

HEAD = ('import pypto.language as pl\nimport pypto.language.distributed as pld\n\n'
        'RANKS = pl.dynamic("RANKS")\nROUNDS = pl.dynamic("ROUNDS")\nM = pl.dynamic("M")\nN = pl.dynamic("N")\n\n'
        '@pl.program\nclass Grid:\n')
INCORE = '    @pl.function(type=pl.FunctionType.InCore)\n'
CHIP = '    @pl.function(type=pl.FunctionType.Orchestration)\n'
HOST = '    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n'


def values(shape, dtype, op, seed):
    """Values whose reductions are exact in any order, also in FP16: eighths; for products signs, and powers of 2 that 16 ranks
    do not multiply beyond the range."""
    rng = np.random.default_rng(seed)
    if op == 'Prod':
        x = rng.choice([-1.0, 1.0], shape)
        x[:2] *= rng.choice([0.5, 2.0], x[:2].shape)
        return x.astype(DTYPES[dtype])
    return (rng.integers(-16, 17, shape) / (1 if dtype == 'INT32' else 8)).astype(DTYPES[dtype])


class Case:
    """One entry of a program: arrays(p) gives inputs and wanted outputs by parameter name; `ranks` that it runs on."""

    def __init__(self, entry, arrays, ranks=RANKS):
        self.entry, self.arrays, self.ranks = entry, arrays, ranks


def everywhere(x):
    return lambda p: np.broadcast_to(x, (p,) + x.shape)


def expected(collective, x, op):
    """What each rank has after it; x is [ranks, rows, size]."""
    p = len(x)
    if collective in ('mesh', 'ring'):
        return everywhere(OPS[op].reduce(x, axis=0))(p)
    if collective == 'broadcast':
        return everywhere(x[p - 1 if op == 'last' else 0])(p)
    if collective == 'allgather':
        return everywhere(x[:, 0])(p)
    if collective == 'all_to_all':
        return x.transpose(1, 0, 2)
    if collective == 'reduce_scatter':
        out = x.copy()
        for rank in range(p):
            out[rank, rank] = x[:, rank].sum(0)
        return out
    raise AssertionError(collective)


def arrays_of(collective, dtype, op, sizes):
    rows = {'all_to_all': None, 'reduce_scatter': None}

    def arrays(p):
        given, wanted = {}, {}
        for size in sizes:
            x = values((p, rows.get(collective, 1) or p, size), dtype, op, size)
            given[f'x{size}'], wanted[f'y{size}'] = x, expected(collective, x, op)
        return given, wanted
    return arrays


# ---- in kernels ------------------------------------------------------------------------------------------------------


def copy(source, target, rows, size, indent):
    """Text that copies [rows, size] through a tile."""
    pad = ' ' * indent
    width = min(size, TILE)
    loop = f'{pad}for row in pl.range({rows}):\n'
    if size <= TILE:
        return loop + f'{pad}    {target} = pl.store(pl.load({source}, [row, 0], [1, {width}]), [row, 0], {target})\n'
    return (loop + f'{pad}    for at in pl.range(0, {size}, {width}):\n'
            f'{pad}        {target} = pl.store(pl.load({source}, [row, at], [1, {width}], valid_shape=[1, pl.min({width}, {size} - at)]), '
            f'[row, at], {target})\n')


def in_kernel(collective, dtype, op, sizes, p='RANKS'):
    """A kernel that calls one collective for every size, its chip orchestration and its host function."""
    name = f'k_{collective}_{dtype}_{op}'
    host_p = 'pld.world_size()'
    signal, cells = f'[{p}, 1]', f'[{host_p}, 1]'
    if collective == 'ring':
        signal, cells = '[ROUNDS, RANKS]', f'[2 * ({host_p} - 1), {host_p}]'
    square = collective in ('all_to_all', 'reduce_scatter')
    tensors, host_tensors, windows, views, args, dispatch, allocs, body = [], [], [], [], [], [], '', ''
    for size in sizes:
        rows_in = 'RANKS' if square else '1'
        rows_out = 'RANKS' if square or collective == 'allgather' else '1'
        w, x, y = f'w{size}', f'x{size}', f'y{size}'
        tensors += [f'{x}: pl.Tensor[[{rows_in}, {size}], pl.{dtype}]', f'{y}: pl.Out[pl.Tensor[[{rows_out}, {size}], pl.{dtype}]]']
        host_tensors += [f'{x}: pl.Tensor[[RANKS, {rows_in}, {size}], pl.{dtype}]',
                         f'{y}: pl.Out[pl.Tensor[[RANKS, {rows_out}, {size}], pl.{dtype}]]']
        windows.append(f'{w}: pl.InOut[pld.DistributedTensor[[{rows_out}, {size}], pl.{dtype}]]')
        host_rows = host_p if rows_out == 'RANKS' else '1'
        allocs += f'        {w}_{name} = pld.alloc_window_buffer({host_rows} * {size} * pl.{dtype}.get_byte())\n'
        views.append(f'            {w} = pld.window({w}_{name}, [{host_rows}, {size}], dtype=pl.{dtype})\n')
        args += [x, y, w]
        dispatch += [f'{x}[rank]', f'{y}[rank]', w]
        if collective in ('allgather', 'all_to_all'):
            call = f'{w} = pld.tensor.{collective}({x}, {w}, sig)'
        else:
            body += copy(x, w, 'ranks' if square else '1', size, 8)
            call = f'{w} = ' + {
                'mesh': f'pld.tensor.allreduce({w}, sig, op=pld.ReduceOp.{op}, mode="mesh")',
                'ring': f'pld.tensor.allreduce({w}, sig, op=pld.ReduceOp.{op}, mode="ring")',
                'broadcast': f'pld.tensor.broadcast({w}, sig, root=0)',
                'reduce_scatter': f'pld.tensor.reduce_scatter({w}, sig, op=pld.ReduceOp.Sum)'}[collective]
        body += f'        {call}\n' + copy(w, y, 'ranks' if rows_out == 'RANKS' else '1', size, 8)
    params = ', '.join(t for i in range(len(sizes)) for t in (tensors[2 * i], tensors[2 * i + 1], windows[i]))
    params += f', sig: pl.InOut[pld.DistributedTensor[{signal}, pl.INT32]]'
    text = INCORE + f'    def {name}(self, {params}):\n        ranks = pl.cast(pld.nranks(pld.get_comm_ctx(sig)), pl.INDEX)\n{body}\n'
    text += CHIP + f'    def c{name}(self, {params}):\n        self.{name}({", ".join(args)}, sig)\n\n'
    text += HOST + f'    def h{name}(self, {", ".join(host_tensors)}):\n{allocs}'
    text += f'        s_{name} = pld.alloc_window_buffer({cells[1:-1].replace(", ", " * ")} * 4)\n'
    text += f'        for rank in pl.range({host_p}):\n{"".join(views)}'
    text += f'            sig = pld.window(s_{name}, {cells}, dtype=pl.INT32)\n'
    text += f'            self.c{name}({", ".join(dispatch)}, sig, device=rank)\n\n'
    return text, Case('h' + name, arrays_of(collective, dtype, op, sizes))


# ---- from hosts ------------------------------------------------------------------------------------------------------


def staging(dtype):
    """Kernels that copy [M, N] into a window and out of it, and their orchestrations."""
    text = ''
    tensor, window = f'pl.Tensor[[M, N], pl.{dtype}]', f'pld.DistributedTensor[[M, N], pl.{dtype}]'
    for name, params, source, target in (('put', f'x: {tensor}, w: pl.InOut[{window}]', 'x', 'w'),
                                         ('take', f'w: {window}, y: pl.Out[{tensor}]', 'w', 'y')):
        text += INCORE + f'    def k{name}_{dtype}(self, {params}):\n'
        text += (f'        for row in pl.range(M):\n            for at in pl.range(0, N, 1024):\n'
                 f'                part = pl.load({source}, [row, at], [1, 1024], valid_shape=[1, pl.min(1024, N - at)])\n'
                 f'                {target} = pl.store(part, [row, at], {target})\n\n')
        text += CHIP + f'    def {name}_{dtype}(self, {params}):\n        self.k{name}_{dtype}({source}, {target})\n\n'
    return text


def from_host(collective, dtype, op, sizes, wrapper=False, p=None):
    """A host function that calls one collective for every size; `p`: the constant number of ranks of those that need it."""
    name = f'{"w" if wrapper else "h"}_{collective}_{dtype}_{op}'
    n = 'pld.world_size()' if p is None else str(p)
    square = collective in ('all_to_all', 'reduce_scatter')
    params, body = [], ''
    for size in sizes:
        rows_in = 'RANKS' if square else '1'
        rows_out = 'RANKS' if square or collective == 'allgather' else '1'
        apart = collective in ('allgather', 'all_to_all')
        params += [f'x{size}: pl.Tensor[[RANKS, {rows_in}, {size}], pl.{dtype}]',
                   f'y{size}: pl.Out[pl.Tensor[[RANKS, {rows_out}, {size}], pl.{dtype}]]']
        rows_in, rows_out = rows_in.replace('RANKS', n), rows_out.replace('RANKS', n)
        for window, rows in [('i', rows_in)] * apart + [('w', rows_out)]:
            body += (f'        b{window}{size}_{name} = pld.alloc_window_buffer({rows} * {size} * pl.{dtype}.get_byte())\n'
                     f'        {window}{size} = pld.window(b{window}{size}_{name}, [{rows}, {size}], dtype=pl.{dtype})\n')
        source = f'i{size}' if apart else f'w{size}'
        shape = {'ring': f'[2 * ({n} - 1) + 1, {n}]', 'broadcast': f'[{n}]', 'reduce_scatter': f'[{n}]'}.get(collective, f'[{n}, 1]')
        if not wrapper:
            body += (f'        s{size}_{name} = pld.alloc_window_buffer({shape[1:-1].replace(", ", " * ").replace("+ 1 *", "* 1 +") if collective != "ring" else f"(2 * ({n} - 1) + 1) * {n}"} * 4)\n'
                     f'        s{size} = pld.window(s{size}_{name}, {shape}, dtype=pl.INT32)\n')
        body += f'        for rank in pl.range({n}):\n            self.put_{dtype}(x{size}[rank], {source}, device=rank)\n'
        reduce = f'op=pld.ReduceOp.{op}'
        calls = {'mesh': (f'pld.tensor.allreduce(w{size}, s{size}, {reduce})', f'pld.all_reduce(w{size}, {reduce})'),
                 'ring': (f'pld.tensor.allreduce(w{size}, s{size}, {reduce}, mode="ring")',
                          f'pld.all_reduce(w{size}, {reduce}, mode="ring", nranks={n})'),
                 'broadcast': (f'pld.tensor.broadcast(w{size}, s{size}, root=0)', f'pld.broadcast(w{size}, root=0)'),
                 'reduce_scatter': (f'pld.tensor.reduce_scatter(w{size}, s{size}, {reduce})', f'pld.reduce_scatter(w{size}, {reduce})'),
                 'allgather': (f'pld.tensor.allgather(i{size}, w{size}, s{size})', f'pld.all_gather(i{size}, w{size})'),
                 'all_to_all': (f'pld.tensor.all_to_all(i{size}, w{size}, s{size})', f'pld.all_to_all(i{size}, w{size})')}
        body += f'        w{size} = {calls[collective][wrapper]}\n'
        body += f'        for rank in pl.range({n}):\n            self.take_{dtype}(w{size}, y{size}[rank], device=rank)\n'
    text = HOST + f'    def {name}(self, {", ".join(params)}):\n{body}\n'
    return text, Case(name, arrays_of(collective, dtype, op, sizes), RANKS if p is None else (p,))


# ---- all_to_all_v and barriers: the ranks are a constant --------------------------------------------------------------


def counted(p, size, where):
    """all_to_all_v, where `where` says (kernel, host or wrapper), between two barriers."""
    name = f'v{where}_{size}'
    rows = p * CAP
    x, w = f'pl.Tensor[[{rows}, {size}], pl.FP32]', f'pld.DistributedTensor[[{rows}, {size}], pl.FP32]'
    n, c = f'pl.Tensor[[{p}, 1], pl.INT32]', f'pld.DistributedTensor[[{p}, 1], pl.INT32]'
    sig = f'pl.InOut[{c}]'
    counts = ('        for i in pl.range({p}):\n            pl.write({to}, [i, 0], pl.read({of}, [i, 0]))\n')
    if where == 'kernel':
        params = f'x: {x}, n: {n}, y: pl.Out[{x}], m: pl.Out[{n}], w: pl.InOut[{w}], r: {sig}, s: {sig}'
        body = ('        s = pld.tensor.barrier(s)\n        w = pld.tensor.all_to_all_v(x, w, s, n, r)\n        s = pld.tensor.barrier(s)\n' +
                copy('w', 'y', rows, size, 8) + counts.format(p=p, to='m', of='r'))
        kernels = [('run', params, 'x, n, y, m, w, r, s', body)]
    else:
        kernels = [('put', f'x: {x}, n: {n}, i: pl.InOut[{w}], c: {sig}', 'x, n, i, c',
                    copy('x', 'i', rows, size, 8) + counts.format(p=p, to='c', of='n')),
                   ('take', f'w: {w}, r: {c}, y: pl.Out[{x}], m: pl.Out[{n}]', 'w, r, y, m',
                    copy('w', 'y', rows, size, 8) + counts.format(p=p, to='m', of='r'))]
    text = ''
    for kernel, params, args, body in kernels:
        text += INCORE + f'    def k{kernel}_{name}(self, {params}):\n{body}\n'
        text += CHIP + f'    def {kernel}_{name}(self, {params}):\n        self.k{kernel}_{name}({args})\n\n'
    text += HOST + (f'    def {name}(self, x{size}: pl.Tensor[[{p}, {rows}, {size}], pl.FP32], n{size}: pl.Tensor[[{p}, {p}, 1], pl.INT32], '
                    f'y{size}: pl.Out[pl.Tensor[[{p}, {rows}, {size}], pl.FP32]], m{size}: pl.Out[pl.Tensor[[{p}, {p}, 1], pl.INT32]]):\n')
    windows = {'i': (f'[{rows}, {size}]', 'FP32'), 'w': (f'[{rows}, {size}]', 'FP32'), 'c': (f'[{p}, 1]', 'INT32'),
               'r': (f'[{p}, 1]', 'INT32'), 's': (f'[{p}, 1]', 'INT32')}
    for window in 'wrs' if where == 'kernel' else 'iwcr' if where == 'wrapper' else 'iwcrs':
        shape, dtype = windows[window]
        text += (f'        b{window}_{name} = pld.alloc_window_buffer({shape}, dtype=pl.{dtype})\n'
                 f'        {window} = pld.window(b{window}_{name}, {shape}, dtype=pl.{dtype})\n')
    loop = f'        for rank in pl.range({p}):\n            '
    xs, ys = f'x{size}[rank], n{size}[rank]', f'y{size}[rank], m{size}[rank]'
    if where == 'kernel':
        text += loop + f'self.run_{name}({xs}, {ys}, w, r, s, device=rank)\n\n'
    else:
        call = 'pld.all_to_all_v(i, w, c, r, nranks=%d)' % p if where == 'wrapper' else 'pld.tensor.all_to_all_v(i, w, s, c, r)'
        text += loop + f'self.put_{name}({xs}, i, c, device=rank)\n        w = {call}\n' + loop + f'self.take_{name}(w, r, {ys}, device=rank)\n\n'

    def arrays(_):
        rng = np.random.default_rng(size)
        given = {f'x{size}': values((p, rows, size), 'FP32', 'Sum', size), f'n{size}': rng.integers(0, CAP + 3, (p, p, 1)).astype(np.int32)}
        blocks = given[f'x{size}'].reshape(p, p, CAP, size)
        return given, {f'y{size}': blocks.transpose(1, 0, 2, 3).reshape(p, rows, size),
                       f'm{size}': np.minimum(given[f'n{size}'], CAP).transpose(1, 0, 2)}
    return text, Case(name, arrays, (p,))


# ---- transfers, signals and domains -----------------------------------------------------------------------------------


def points():
    """Puts, gets, remote loads and stores, atomic ones too, ordered by notify and wait; every rank runs it."""
    params = ('x: pl.Tensor[[2, 64], pl.FP32], y: pl.Out[pl.Tensor[[6, 64], pl.FP32]], box: pl.InOut[pld.DistributedTensor[[2, 64], pl.FP32]], '
              'sums: pl.InOut[pld.DistributedTensor[[2, 64], pl.FP32]], got: pl.InOut[pld.DistributedTensor[[1, 64], pl.FP32]], '
              'sig: pl.InOut[pld.DistributedTensor[[RANKS, 1], pl.INT32]], ring: pl.InOut[pld.DistributedTensor[[3, 1], pl.INT32]]')
    args = 'x, y, box, sums, got, sig, ring'
    text = INCORE + f'''    def kpoints(self, {params}):
        ctx = pld.get_comm_ctx(box)
        me = pld.rank(ctx)
        n = pld.nranks(ctx)
        right = (me + 1) % n
        left = (me + n - 1) % n
        stage = pl.create_tile([1, 64], dtype=pl.FP32, target_memory=pl.MemorySpace.Vec)
        t = pl.load(x, [0, 0], [1, 64])
        pld.tile.remote_store(t, box, peer=right, offsets=[0, 0])
        pld.tile.put(box, right, x, stage, [1, 0], [1, 0], [1, 64], atomic=pld.AtomicType.None_)
        pld.system.notify(ring, peer=right, offsets=[0, 0], value=1, op=pld.NotifyOp.AtomicAdd)
        pld.system.wait(ring, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
        pld.tile.remote_store(t, sums, peer=0, offsets=[0, 0], atomic=pld.AtomicType.Add)
        pld.tile.put(sums, 0, x, stage, [1, 0], [1, 0], [1, 64], atomic=pld.AtomicType.Add)
        sig = pld.tensor.barrier(sig)
        y = pl.store(pl.load(box, [0, 0], [2, 64]), [0, 0], y)
        y = pl.store(pld.tile.remote_load(box, left, [0, 0], [1, 64]), [2, 0], y)
        y = pl.store(pld.tile.remote_load(sums, 0, [0, 0], [2, 64]), [3, 0], y)
        pld.tile.get(got, right, box, stage, [0, 0], [1, 0], [1, 64])
        y = pl.store(pl.load(got, [0, 0], [1, 64]), [5, 0], y)
        pld.system.notify(ring, peer=right, offsets=[1, 0], value=7, op=pld.NotifyOp.Set)
        pld.system.wait(ring, offsets=[1, 0], expected=7, cmp=pld.WaitCmp.Eq)

'''
    text += CHIP + f'    def cpoints(self, {params}):\n        self.kpoints({args})\n\n'
    text += HOST + '    def points(self, x: pl.Tensor[[RANKS, 2, 64], pl.FP32], y: pl.Out[pl.Tensor[[RANKS, 6, 64], pl.FP32]]):\n'
    views = ''
    for name, shape, dtype in (('box', '[2, 64]', 'FP32'), ('sums', '[2, 64]', 'FP32'), ('got', '[1, 64]', 'FP32'),
                               ('sig', '[pld.world_size(), 1]', 'INT32'), ('ring', '[3, 1]', 'INT32')):
        text += f'        p{name} = pld.alloc_window_buffer({shape[1:-1].replace(", ", " * ")} * 4)\n'
        views += f'            {name} = pld.window(p{name}, {shape}, dtype=pl.{dtype})\n'
    text += f'        for rank in pl.range(pld.world_size()):\n{views}            self.cpoints({args.replace("x, y", "x[rank], y[rank]")}, device=rank)\n\n'

    def arrays(p):
        x = values((p, 2, 64), 'FP32', 'Sum', 3)
        y = np.zeros((p, 6, 64), np.float32)
        for rank in range(p):
            y[rank, 0:2] = x[rank - 1]
            y[rank, 2] = x[rank - 2 if p > 1 else 0, 0]
            y[rank, 3:5] = x.sum(0)
            y[rank, 5] = x[rank, 1]
        return {'x': x}, {'y': y}
    return text, Case('points', arrays)


def domains():
    """All-reduces on devices 1 and 3, on 0 and 2, and on all four, whose scopes stand in each other."""
    text = HOST + '    def domains(self, x: pl.Tensor[[4, 1, 300], pl.FP32], y: pl.Out[pl.Tensor[[4, 1, 300], pl.FP32]]):\n'
    groups = {'odd': (1, 3), 'even': (0, 2), 'all': (0, 1, 2, 3)}
    for name, members in groups.items():
        text += (f'        d{name} = pld.alloc_window_buffer(300 * 4)\n        s{name} = pld.alloc_window_buffer({len(members)} * 4)\n'
                 f'        {name} = pld.window(d{name}, [1, 300], dtype=pl.FP32)\n'
                 f'        sig_{name} = pld.window(s{name}, [{len(members)}, 1], dtype=pl.INT32)\n')
    for name in ('odd', 'even'):
        text += ''.join(f'        self.put_FP32(x[{m}], {name}, device={m})\n' for m in groups[name])
        text += f'        {name} = pld.tensor.allreduce({name}, sig_{name}, op=pld.ReduceOp.Sum)\n'
        text += ''.join(f'        self.take_FP32({name}, y[{m}], device={m})\n' for m in groups[name])
    text += '        for r in pl.range(4):\n            self.put_FP32(y[r], all, device=r)\n'
    text += '        all = pld.tensor.allreduce(all, sig_all, op=pld.ReduceOp.Max)\n'
    # What was there before is added on, so that all three sums count.
    text += ''.join(f'        self.add_FP32(all, y[{m}], device={m})\n' for m in range(4)) + '\n'
    tensor, window = 'pl.Tensor[[M, N], pl.FP32]', 'pld.DistributedTensor[[M, N], pl.FP32]'
    params = f'w: {window}, y: pl.InOut[{tensor}]'
    text = (INCORE + f'    def kadd_FP32(self, {params}):\n        for at in pl.range(0, N, 100):\n'
            '            y = pl.store(pl.add(pl.load(w, [0, at], [1, 100]), pl.load(y, [0, at], [1, 100])), [0, at], y)\n\n' +
            CHIP + f'    def add_FP32(self, {params}):\n        self.kadd_FP32(w, y)\n\n' + text)

    def arrays(_):
        x = values((4, 1, 300), 'FP32', 'Sum', 4)
        y = np.array([x[0] + x[2], x[1] + x[3]] * 2)
        return {'x': x}, {'y': y + y.max(0)}
    return text, Case('domains', arrays, (4,))


# ---- running ---------------------------------------------------------------------------------------------------------


class Grid:
    def __init__(self, pldc, work):
        self.pldc, self.work, self.passed, self.failed = pldc, work, 0, 0

    def check(self, good, what):
        self.passed += good
        self.failed += not good
        if not good:
            print('FAILED', what, flush=True)

    def run(self, name, parts, ranks, wanted_name=''):
        """Builds the program of the parts and runs each of its entries on the ranks."""
        parts = [(text, case) for text, case in parts if wanted_name in case.entry]
        if not parts:
            return
        folder = self.work / name
        folder.mkdir()
        dtypes = {dtype for dtype in DTYPES if any(f'self.put_{dtype}(' in text for text, _ in parts)}
        path = folder / 'p.pld'
        path.write_text(HEAD + ''.join(staging(d) for d in sorted(dtypes)) + ''.join(text for text, _ in parts))
        # Compiling is what takes the time; the runtime's own tests have it optimised.
        built = subprocess.run([self.pldc, 'build', path, '-o', folder / 'p', '--cxxflags=-O1'], capture_output=True, text=True)
        self.check(built.returncode == 0, f'{name}: build\n{built.stderr[-3000:]}')
        if built.returncode:
            return
        for _, case in parts:
            for p in sorted(set(ranks) & set(case.ranks)):
                self.run_case(folder, case, p)

    def run_case(self, folder, case, p):
        given, wanted = case.arrays(p)
        options = ['--ranks', str(p), '--entry', case.entry, '--check=signals,bounds', '--repeat', '2']
        for name, value in given.items():
            np.save(folder / f'{name}.npy', value)
            options.append(f'--in={name}={folder / name}.npy')
        for name in wanted:
            options.append(f'--out={name}={folder / name}.npy')
        ran = subprocess.run([folder / 'p/bin/p', *options], capture_output=True, text=True)
        bad = []
        if ran.returncode == 0:
            for name, value in wanted.items():
                found = np.load(folder / f'{name}.npy')
                if found.shape != value.shape or not np.array_equal(found, value):
                    bad.append(name)
        self.check(ran.returncode == 0 and not bad, f'{case.entry} on {p} ranks: {", ".join(bad)} {ran.stderr[-1500:]}')


def fits(collective, dtype, size):
    """Whether a kernel may do it: the stage, or the three rows of reduce_scatter, in the vector buffer."""
    rows = 3 if collective == 'reduce_scatter' else 1
    return collective in ('mesh', 'ring') or -(-size * DTYPES[dtype](0).itemsize // 32) * 32 * rows <= STAGE_BYTES


def kernel_parts(full):
    some = () if full else (('mesh', 'FP16', 'Max'), ('ring', 'FP32', 'Sum'), ('ring', 'FP16', 'Prod'))
    combinations = [(c, d, op) for c in ('mesh', 'ring') for d in ('FP32', 'FP16') for op in OPS] if full else some
    combinations = list(combinations)
    for collective in ('broadcast', 'allgather', 'all_to_all', 'reduce_scatter'):
        combinations += [(collective, d, 'Sum') for d in (('FP32', 'FP16', 'INT32') if full else ('FP32',))]
    for collective, dtype, op in combinations:
        sizes = [s for s in (SIZES if full else (1, 17, 257, 4097)) if fits(collective, dtype, s)]
        yield in_kernel(collective, dtype, op, sizes)


def host_parts(full):
    every = [('mesh', d, op) for d in ('FP32', 'FP16') for op in OPS] if full else [('mesh', 'FP16', 'Prod')]
    every += [(c, 'FP32', 'Sum') for c in ('ring', 'broadcast', 'allgather', 'all_to_all', 'reduce_scatter')]
    for number, (collective, dtype, op) in enumerate(every):
        square = collective in ('all_to_all', 'allgather', 'reduce_scatter')
        sizes = SIZES if full else (1, 255, 4097) if square else (1, 257, 100000)
        if full or number % 2 == 0 or collective == 'ring':
            yield from_host(collective, dtype, op, sizes)
        if collective != 'ring' and (full or number % 2 == 1 or collective == 'mesh'):
            yield from_host(collective, dtype, op, sizes, wrapper=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--pldc', type=pathlib.Path, required=True)
    parser.add_argument('--full', action='store_true', default=os.environ.get('PLDC_TEST_STAGES') == 'all')
    parser.add_argument('--work', type=pathlib.Path)
    parser.add_argument('-k', default='', metavar='TEXT', help='only entries with this in their name')
    options = parser.parse_args()
    ranks = RANKS if options.full else (1, 3, 4, 8)
    with tempfile.TemporaryDirectory() as name:
        work = options.work or pathlib.Path(name)
        work.mkdir(parents=True, exist_ok=True)
        grid = Grid(options.pldc.resolve(), work)
        grid.run('kernels', kernel_parts(options.full), ranks, options.k)
        grid.run('hosts', [points(), domains(), *host_parts(options.full)], ranks, options.k)
        for p in ranks if options.full else (3,):
            parts = [from_host('ring', 'FP32', 'Sum', SIZES if options.full else (1, 257), True, p)]
            for where in ('kernel', 'host', 'wrapper'):
                parts += [counted(p, size, where) for size in SIZES
                          if (where != 'kernel' or fits('all_to_all_v', 'FP32', size)) and (options.full or size == 257)]
            grid.run(f'ranks{p}', parts, (p,), options.k)
    print(f'{grid.passed} passed, {grid.failed} failed')
    sys.exit(grid.failed != 0)


if __name__ == "__main__":
    main()
