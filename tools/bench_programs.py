"""What tools/bench measures of programs: the time to build one, all-reduces beside MPI_Allreduce of Open MPI, and a matrix
product and a softmax beside numpy. All times are the best of several short runs: that is what a busy machine disturbs least.
"""
import os
import pathlib
import re
import shutil
import subprocess
import time

SIZES = {4096: 4000, 262144: 100, 16777216: 20}  # bytes of an all-reduce, and how many make a run on as many cores as ranks
HEAD = ('import pypto.language as pl\nimport pypto.language.distributed as pld\n\n'
        'RANKS = pl.dynamic("RANKS")\nROUNDS = pl.dynamic("ROUNDS")\n\n@pl.program\nclass Bench:\n')
INCORE = '    @pl.function(type=pl.FunctionType.InCore)\n'
CHIP = '    @pl.function(type=pl.FunctionType.Orchestration)\n'
HOST = '    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n'


def allreduces(kind):
    """A program with one host function for each mode and size: `kernel`: the loop of all-reduces is in a kernel; `host`: it
    is in the host function, each all-reduce a dispatch to every rank."""
    text = HEAD
    extra = 1 if kind == 'host' else 0  # rows of the signal of a ring
    for size in SIZES:
        for mode in ('mesh', 'ring'):
            name, n = f'{mode}_{size}', size // 4
            rows = f'(pld.world_size() - 1) * 2 + {extra}' if mode == 'ring' else 'pld.world_size()'
            columns = 'pld.world_size()' if mode == 'ring' else '1'
            cells = 'ROUNDS, RANKS' if mode == 'ring' else 'RANKS, 1'
            reduce = f'w = pld.tensor.allreduce(w, sig, op=pld.ReduceOp.Sum, mode="{mode}")\n'
            window = f'w: pl.InOut[pld.DistributedTensor[[1, {n}], pl.FP32]]'
            signal = f'sig: pl.InOut[pld.DistributedTensor[[{cells}], pl.INT32]]'
            params, args = (f'loops: pl.Scalar[pl.INDEX], {window}, {signal}', 'loops, w, sig') if kind == 'kernel' else (window, 'w')
            text += INCORE + f'    def k_{name}(self, {params}):\n'
            text += (f'        for i in pl.range(loops):\n            {reduce}' if kind == 'kernel' else
                     '        pl.store(pl.load(w, [0, 0], [1, 64]), [0, 0], w)\n')
            text += '\n' + CHIP + f'    def c_{name}(self, {params}):\n        self.k_{name}({args})\n\n'
            text += HOST + f'    def {name}(self, loops: pl.Scalar[pl.INDEX]):\n'
            text += f'        data_{name} = pld.alloc_window_buffer({n} * pl.FP32.get_byte())\n'
            text += f'        cells_{name} = pld.alloc_window_buffer(({rows}) * {columns} * 4)\n'
            text += f'        w = pld.window(data_{name}, [1, {n}], dtype=pl.FP32)\n'
            text += f'        sig = pld.window(cells_{name}, [{rows}, {columns}], dtype=pl.INT32)\n'
            text += f'        for rank in pl.range(pld.world_size()):\n            self.c_{name}({args}, device=rank)\n'
            text += f'        for i in pl.range(loops):\n            {reduce}' if kind == 'host' else ''
            text += '\n'
    return text


MATMUL = HEAD + INCORE + '''    def mm(self, a: pl.Tensor[[512, 512], pl.FP32], b: pl.Tensor[[512, 512], pl.FP32], c: pl.Out[pl.Tensor[[512, 512], pl.FP32]]):
        for i in pl.range(0, 512, 128):
            for j in pl.range(0, 512, 128):
                la = pl.load(a, [i, 0], [128, 128], target_memory=pl.MemorySpace.Mat)
                lb = pl.load(b, [0, j], [128, 128], target_memory=pl.MemorySpace.Mat)
                sum = pl.matmul(la, lb)
                for k in pl.range(128, 512, 128):
                    la = pl.load(a, [i, k], [128, 128], target_memory=pl.MemorySpace.Mat)
                    lb = pl.load(b, [k, j], [128, 128], target_memory=pl.MemorySpace.Mat)
                    sum = pl.matmul_acc(sum, la, lb)
                c = pl.store(sum, [i, j], c)

''' + CHIP + '''    def main(self, a: pl.Tensor[[512, 512], pl.FP32], b: pl.Tensor[[512, 512], pl.FP32], c: pl.Out[pl.Tensor[[512, 512], pl.FP32]]):
        self.mm(a, b, c)
'''
SOFTMAX = HEAD + INCORE + '''    def rows(self, x: pl.Tensor[[1024, 1024], pl.FP32], y: pl.Out[pl.Tensor[[1024, 1024], pl.FP32]]):
        for i in pl.range(0, 1024, 8):
            t = pl.load(x, [i, 0], [8, 1024])
            tmp = pl.create_tile([8, 1024], dtype=pl.FP32, target_memory=pl.MemorySpace.Vec)
            e = pl.exp(pl.row_expand_sub(t, pl.row_max(t, tmp)))
            y = pl.store(pl.row_expand_div(e, pl.row_sum(e, tmp)), [i, 0], y)

''' + CHIP + '''    def main(self, x: pl.Tensor[[1024, 1024], pl.FP32], y: pl.Out[pl.Tensor[[1024, 1024], pl.FP32]]):
        self.rows(x, y)
'''
NUMPY = '''
import time
import numpy as np
def best(f):
    times = []
    for _ in range(30):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return min(times)
a, b = (np.random.rand(512, 512).astype(np.float32) for _ in range(2))
x = np.random.rand(1024, 1024).astype(np.float32)
def softmax():
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)
print(best(lambda: a @ b), best(softmax))
'''


def mpirun(ranks, cores):
    command = ['mpirun', '-n', str(ranks)]
    if os.geteuid() == 0:
        command.append('--allow-run-as-root')
    if ranks > cores:  # it makes waiting ranks yield, which costs time when there are cores enough
        command.append('--oversubscribe')
    return command


def best_run(binary, *options, repeat=15, start=()):
    """Seconds of the best of `repeat` runs; `start`: the command that starts the program."""
    result = subprocess.run([*start, binary, '--repeat', str(repeat), *options], capture_output=True, text=True, check=False)
    found = re.search(r'min ([\d.]+) ms', result.stderr)
    if result.returncode or not found:
        raise SystemExit(f'{binary} {" ".join(options)}: exit code {result.returncode}\n{result.stderr[-2000:]}')
    return float(found[1]) / 1e3


def built(pldc, folder, name, text, *options):
    """The program built of a text; returns its executable."""
    path = folder / f'{name}.pld'
    path.write_text(text)
    subprocess.run([pldc, 'build', path, '-o', folder / name, *options], check=True, stdout=subprocess.DEVNULL)
    return folder / name / 'bin' / name


def check(pldc, folder):
    """That the programs are good; measures nothing."""
    for name, text in (('kernel', allreduces('kernel')), ('host', allreduces('host')), ('matmul', MATMUL), ('softmax', SOFTMAX)):
        path = folder / f'{name}.pld'
        path.write_text(text)
        subprocess.run([pldc, 'check', path], check=True)


def build_time(pldc, folder, sample):
    """Building a program of three kernels, nothing cached: seconds, and of those without the runtime, which is cached."""
    times = {}
    for cached in (False, True):
        environment = dict(os.environ, XDG_CACHE_HOME=str(folder / 'cache'))
        times[cached] = []
        for number in range(3):
            if not cached:
                shutil.rmtree(folder / 'cache', ignore_errors=True)
            out = folder / f'three-{cached}-{number}'
            start = time.perf_counter()
            subprocess.run([pldc, 'build', sample, '-o', out], check=True, env=environment)
            times[cached].append(time.perf_counter() - start)
    print(f'\n{"build of three kernels":<28}{"s":>9}')
    print(f'{"nothing cached":<28}{min(times[False]):>9.2f}')
    print(f'{"runtime cached":<28}{min(times[True]):>9.2f}', flush=True)


def calls_of(size, ranks, cores):
    """All-reduces of one run: enough that what begins it, such as windows that are made zero, does not count."""
    return SIZES[size] if ranks <= cores else max(10, SIZES[size] // 10)


def mpi_times(folder, source, ranks, cores):
    """Seconds of MPI_Allreduce by size; nothing if Open MPI is not there."""
    if not shutil.which('mpicc') or not shutil.which('mpirun'):
        return {}
    binary = folder / 'mpi_allreduce'
    subprocess.run(['mpicc', '-O2', source, '-o', binary], check=True)
    command = mpirun(ranks, cores)
    for size in SIZES:
        command += [] if size != 4096 else [binary]
        command += [str(size), str(calls_of(size, ranks, cores))]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        print(f'mpirun: exit code {result.returncode}: {result.stderr.strip()[-300:]}')
        return {}
    return {int(size): float(seconds) for size, seconds in (line.split() for line in result.stdout.splitlines() if line)}


def all_reduce_table(pldc, folder, source):
    cores = len(os.sched_getaffinity(0))
    programs = {kind: built(pldc, folder, kind, allreduces(kind)) for kind in ('kernel', 'host')}
    if shutil.which('mpicxx') and shutil.which('mpirun'):
        programs['processes'] = built(pldc, folder, 'processes', allreduces('kernel'), '--target=mpi')
    titles = {'kernel': 'in a kernel', 'host': 'dispatched', 'processes': '--target=mpi'}
    for ranks in (2, 4):
        mpi = mpi_times(folder, source, ranks, cores)
        if not mpi:
            print('\nOpen MPI is not installed (packages openmpi-bin, libopenmpi-dev): its column stays empty')
        print(f'\n{f"FP32 all-reduce, {ranks} ranks":<28}{"bytes":>9} {"us":>9} {"GB/s":>9} {"x MPI":>9}')
        for size in SIZES:
            calls = calls_of(size, ranks, cores)
            rows = [('MPI_Allreduce', mpi.get(size))]
            for kind, binary in programs.items():
                for mode in ('mesh', 'ring'):
                    start = mpirun(ranks, cores) if kind == 'processes' else ()
                    seconds = best_run(binary, '--ranks', str(ranks), '--entry', f'{mode}_{size}', '--scalar', f'loops={calls}',
                                       start=start)
                    rows.append((f'{mode}, {titles[kind]}', seconds / calls))
            for name, seconds in rows:
                if seconds:
                    ratio = f'{mpi[size] / seconds:>9.2f}' if size in mpi else ''
                    print(f'{name:<28}{size:>9} {seconds * 1e6:>9.1f} {size / seconds / 1e9:>9.2f} {ratio}'.rstrip(), flush=True)


def compute_table(pldc, folder):
    numpy = subprocess.run(['/usr/bin/python3', '-c', NUMPY], capture_output=True, text=True, check=False,
                           env=dict(os.environ, OPENBLAS_NUM_THREADS='1'))
    theirs = [float(word) for word in numpy.stdout.split()] if numpy.returncode == 0 else [None, None]
    if numpy.returncode:
        print('\nnumpy is not installed (package python3-numpy): its column stays empty')
    print(f'\n{"one core, FP32":<28}{"ms":>9} {"GFLOP/s":>9} {"numpy ms":>9}')
    for (name, text, work), other in zip((('matmul 512x512x512', MATMUL, 2 * 512**3), ('softmax 1024x1024', SOFTMAX, None)), theirs):
        seconds = best_run(built(pldc, folder, name.split()[0], text), '--random')
        rate = f'{work / seconds / 1e9:>9.1f}' if work else f'{"":>9}'
        print(f'{name:<28}{seconds * 1e3:>9.2f} {rate} {f"{other * 1e3:>9.2f}" if other else ""}'.rstrip(), flush=True)


def measure(pldc, root, folder):
    pldc = pathlib.Path(pldc).resolve()
    build_time(pldc, folder, root / 'samples/allreduce.pld')
    all_reduce_table(pldc, folder, root / 'tests/bench/mpi_allreduce.c')
    compute_table(pldc, folder)
