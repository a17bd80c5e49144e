"""Many small cases of operations in one program: building the text, building and running it, comparing.

A case writes statements into a kernel (or an orchestration) and names where its operands and results lie: in pools, one
tensor a dtype for all operands and one for all results, or in tensors of their own. So a hundred operations cost one
compilation. A case that pldc refuses is told from its neighbours by the line of the diagnostic and left out of the next
attempt; what refuses it is kept.
"""
import re
import shutil
import subprocess

import numpy as np

WIDTH = 256  # columns of a pool

STORAGE = {
    "FP32": np.float32, "FP16": np.float16, "BF16": np.uint16, "INT8": np.int8, "INT16": np.int16, "INT32": np.int32,
    "INT64": np.int64, "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32, "UINT64": np.uint64,
    "BOOL": np.bool_, "FP8E4M3FN": np.uint8, "FP8E8M0": np.uint8,
}
FLOATS = ("FP32", "FP16", "BF16", "FP8E4M3FN")


def is_int(dtype):
    return dtype not in FLOATS and dtype not in ("BOOL", "FP8E8M0")


def width_of(dtype):
    return np.dtype(STORAGE[dtype]).itemsize


def nearest(values, grid_bits, least_exponent):
    """Rounds to grid_bits significant bits, ties to even; below 2^least_exponent the grid is that of 2^least_exponent."""
    values = np.asarray(values, np.float64)
    finite = np.isfinite(values) & (values != 0)
    _, exponent = np.frexp(np.where(finite, values, 1.0))
    unit = np.maximum(exponent - 1, least_exponent) - (grid_bits - 1)
    return np.where(finite, np.ldexp(np.rint(np.ldexp(values, -unit)), unit), values)


def encode(values, dtype):
    """Real numbers as the stored elements of the dtype, nearest even."""
    if dtype == "BF16":
        real = nearest(values, 8, -126)
        with np.errstate(over="ignore"):
            return (real.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if dtype == "FP8E4M3FN":
        real = np.clip(nearest(values, 4, -6), -448, 448)
        every = decode(np.arange(127, dtype=np.uint8), dtype)
        return (np.searchsorted(every, np.abs(real)) | (np.signbit(real) * 128)).astype(np.uint8)
    if is_int(dtype):
        array = np.asarray(values)
        if array.dtype == object or array.dtype.kind in "iu":
            bits = 8 * width_of(dtype)
            return np.array([int(v) % (1 << bits) for v in array.ravel()], np.uint64).astype(
                f"u{bits // 8}").view(STORAGE[dtype]).reshape(array.shape)
        return array.astype(STORAGE[dtype])
    with np.errstate(over="ignore"):
        return np.asarray(values, np.float64).astype(STORAGE[dtype])


def decode(stored, dtype):
    """Stored elements as real numbers; integers stay integers."""
    stored = np.asarray(stored)
    if dtype == "BF16":
        bits = np.atleast_1d(stored).astype(np.uint32) << 16
        with np.errstate(invalid="ignore"):
            return bits.view(np.float32).astype(np.float64).reshape(stored.shape)
    if dtype == "FP8E4M3FN":
        code = stored.astype(np.int64)
        exponent, fraction = (code >> 3) & 15, code & 7
        real = np.where(exponent == 0, np.ldexp(fraction / 8.0, -6), np.ldexp(1 + fraction / 8.0, exponent - 7))
        real = np.where((code & 127) == 127, np.nan, real)
        return np.where(code & 128, -real, real)
    return stored.astype(np.float64) if dtype in FLOATS else stored


class Result:
    """What a case leaves in a pool: `expected` are stored elements; only cells of `mask` count. `other` are values that are
    as right as `expected`."""

    def __init__(self, expected, dtype, mask=None, tol=0.0, other=None):
        self.expected = np.asarray(expected)
        self.dtype, self.tol, self.other = dtype, tol, other
        self.mask = np.ones(self.expected.shape, bool) if mask is None else np.asarray(mask, bool)

    def check(self, got):
        """None, or what is wrong."""
        if not self.mask.any():
            return None
        good = self.equal(got, self.expected)
        if self.other is not None:
            good |= self.equal(got, self.other)
        bad = np.argwhere(~good & self.mask)
        if len(bad) == 0:
            return None
        at = tuple(bad[0])
        want, have = decode(self.expected, self.dtype)[at], decode(got, self.dtype)[at]
        return f"{len(bad)} of {got.size} cells differ, first {list(map(int, at))}: expected {want!r}, found {have!r}"

    def equal(self, got, want):
        if self.dtype not in FLOATS:
            return got == want
        a, b = decode(got, self.dtype), decode(want, self.dtype)
        with np.errstate(invalid="ignore"):
            close = np.abs(a - b) <= self.tol * np.maximum(1, np.abs(b))
        return (a == b) | close | (np.isnan(a) & np.isnan(b))


class Case:
    """`write(k)` adds the statements to a Kernel and registers results. `ops`: the operations that the case shows."""

    def __init__(self, name, ops, write, place="kernel"):
        self.name, self.write, self.place = name, write, place
        self.ops = [ops] if isinstance(ops, str) else list(ops)
        self.outcome = None  # "passed", "failed: ...", "refused: ..."


class Pool:
    def __init__(self, name, dtype):
        self.name, self.dtype, self.parts, self.rows = name, dtype, [], 0

    def put(self, array):
        array = np.asarray(array, STORAGE[self.dtype])
        rows = array.reshape(-1, array.shape[-1] if array.ndim else 1)
        assert rows.shape[1] <= WIDTH
        at = self.rows
        self.parts.append((at, rows))
        self.rows += rows.shape[0]
        return at

    def array(self):
        out = np.zeros((max(self.rows, 1), WIDTH), STORAGE[self.dtype])
        for at, rows in self.parts:
            out[at:at + rows.shape[0], :rows.shape[1]] = rows
        return out


class Own:
    def __init__(self, name, dtype, array, inout):
        self.name, self.dtype, self.inout = name, dtype, inout
        self.view = ""  # of the tensor's type
        self.data = np.asarray(array, STORAGE[dtype])

    def array(self):
        return self.data


class Kernel:
    """One function and its tensors, shared with no other: the pools have its number."""

    def __init__(self, number):
        self.number, self.lines, self.tensors = number, [], {}
        self.results, self.counter, self.lets = [], 0, 0

    def fresh(self, stem="v"):
        self.counter += 1
        return f"{stem}{self.counter}"

    def line(self, text):
        self.lines.append(text)

    def let(self, value, stem="v"):
        name = self.fresh(stem)
        self.line(f"{name} = {value}")
        return name

    def pool(self, way, dtype):
        name = f"{way}{self.number}_{dtype}"
        return self.tensors.setdefault(name, Pool(name, dtype))

    def own(self, array, dtype, inout=False):
        """A tensor parameter of its own; its name."""
        name = f"own{self.number}_{self.fresh('t')}"
        self.tensors[name] = Own(name, dtype, array, inout)
        return name

    def given(self, array, dtype):
        """Places stored elements among the operands: pool name and row."""
        pool = self.pool("in", dtype)
        return pool.name, pool.put(array)

    def wanted(self, result, before=None):
        """Places a result: pool name and row. `before`: what stands there at first."""
        pool = self.pool("out", result.dtype)
        at = pool.put(np.zeros_like(result.expected) if before is None else before)
        self.results.append((result, pool.name, at))
        return pool.name, at

    def wanted_own(self, result, name):
        """The tensor of own() is a result."""
        self.results.append((result, name, None))

    def tile(self, array, dtype, valid=None, space=None, extra=""):
        """Loads an operand into a tile: the variable."""
        array = np.asarray(array)
        name, row = self.given(array, dtype)
        shape = list(array.shape)
        more = f", {list(valid)}" if valid is not None else ""
        if space is not None:
            extra += f", target_memory=pl.Mem.{space}"
        return self.let(f"pl.tile.load({name}, [{row}, 0], {shape}{more}{extra})", "t")

    def store(self, tile, result, before=None):
        name, row = self.wanted(result, before)
        self.line(f"{name} = pl.tile.store({tile}, [{row}, 0], {name})")

    def put_scalar(self, value, result):
        """Writes a scalar into a cell of the results."""
        name, row = self.wanted(result)
        self.line(f"{name} = pl.tensor.write({name}, [{row}, 0], {value})")

    def parameters(self):
        out = []
        for t in self.tensors.values():
            shape = list(t.array().shape)
            kind = f"pl.Tensor[{shape}, pl.{t.dtype}{getattr(t, 'view', '')}]"
            inout = t.inout if isinstance(t, Own) else t.name.startswith("out")
            out.append(f"{t.name}: {'pl.InOut[' + kind + ']' if inout else kind}")
        return ", ".join(out)

    def outputs(self):
        return [t.name for t in self.tensors.values() if (t.inout if isinstance(t, Own) else t.name.startswith("out"))]


MAX_TENSORS = 32
HEAD = ["import pypto.language as pl", "import pypto.language.distributed as pld", "", "@pl.program", "class Ops:"]


def function(kernel, kind, name, body):
    attr = "" if kind == "Orchestration" else ", self"
    return [f"    @pl.function(type=pl.FunctionType.{kind})",
            f"    def {name}(self, {kernel.parameters()}):"] + ["        " + text for text in body] + [""]


class Parts:
    """Functions and statements of the orchestration that cases add to one program."""

    def __init__(self):
        self.k = Kernel(0)
        self.functions = []

    def add(self, kind, name, parameters, body, result="", attrs=""):
        self.functions += [f"    @pl.function(type=pl.FunctionType.{kind}{attrs})",
                           f"    def {name}(self, {parameters}){result and ' -> ' + result}:"]
        self.functions += ["        " + line for line in body] + [""]

    def group(self, n, parameters, cube, vector, split):
        """A cube and a vector function with the same parameters and the group that starts both; how to call it."""
        names = ", ".join(re.findall(r"(\w+): ", parameters))
        self.add("AIC", f"cube{n}", parameters, cube)
        modes = ["NONE", "UP_DOWN", "LEFT_RIGHT"]
        attrs = f", attrs={{'split': pl.SplitMode.{modes[split]}}}" if split else ""  # both lanes run it
        self.add("AIV", f"vector{n}", parameters, vector, attrs=attrs)
        self.add("Group", f"pair{n}", parameters, [f"self.cube{n}({names})", f"self.vector{n}({names})"])
        return f"self.pair{n}"


class Batch:
    """Programs of up to `limit` cases a kernel and any number of kernels."""

    TARGET = "sim"

    def __init__(self, pldc, work, limit=40, cxxflags="-O0"):
        self.pldc, self.work, self.limit, self.cxxflags = pldc, work, limit, cxxflags

    def run(self, name, cases):
        """Sets the outcome of every case."""
        left = list(cases)
        while left:
            kernels, text, lines = self.parts(left) if left[0].place in ("program", "pipes") else self.text(left)
            path = self.work / f"{name}.pld"
            path.write_text("\n".join(text) + "\n")
            tree = self.work / name
            # Kernels of pipes are written as the passes leave them: one for each kind of core.
            passes = ["--passes=NONE"] if left[0].place == "pipes" else []
            made = self.call([self.pldc, "build", f"--target={self.TARGET}", "--emit-only", str(path), "-o", str(tree)] + passes)
            if made.returncode == 0:
                break
            refused = self.blame(made.stdout, lines)
            if not refused:
                return self.all_fail(left, f"the program {name} is refused: {made.stdout[-3000:]}")
            for case, why in refused.items():
                case.outcome = f"refused: {why}"
            left = [case for case in left if case not in refused]
        if left:
            self.use(name, tree, kernels, left)

    def use(self, name, tree, kernels, left):
        """What becomes of a generated program."""
        self.lend_runtime(tree)
        built = self.call(["make", "-s", "-j2", "-C", str(tree), f"CXXFLAGS={self.cxxflags}", "all"])
        if built.returncode != 0:
            return self.all_fail(left, f"{name} does not compile: {built.stdout[:3000]}")
        self.execute(name, tree, kernels, left)

    def lend_runtime(self, tree):
        """The runtime is the same in every program and takes longest to compile."""
        for name in ("runtime.o", "watch.o", "launcher.o"):
            to = tree / "build" / name
            for made in self.work.glob(f"*/build/{name}"):
                if not to.exists():
                    to.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(made, to)

    @staticmethod
    def all_fail(cases, why):
        for case in cases:
            case.outcome = "failed: as the first one"
        cases[0].outcome = f"failed with {len(cases) - 1} others: {why}"

    @staticmethod
    def call(command):
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    @staticmethod
    def blame(output, lines):
        out = {}
        for line, text in re.findall(r":(\d+):\d+: error: (.*)", output):
            case = lines.get(int(line))
            if case is not None and case not in out:
                out[case] = text
        return out

    def parts(self, cases):
        """As text(), for cases that add functions of their own and statements of the orchestration."""
        parts = Parts()
        ranges = []
        parts.k.cases = []
        for case in cases:
            begin = (len(parts.functions), len(parts.k.lines), len(parts.k.results))
            case.write(parts)
            ranges.append((case, begin, (len(parts.functions), len(parts.k.lines))))
            parts.k.cases.append((begin[2], len(parts.k.results), case))
        text = HEAD + parts.functions + function(parts.k, "Orchestration", "main", parts.k.lines)
        lines = {}
        for case, begin, end in ranges:
            for i in range(begin[0], end[0]):
                lines[len(HEAD) + 1 + i] = case
            for i in range(begin[1], end[1]):
                lines[len(HEAD) + len(parts.functions) + 3 + i] = case
        return [parts.k], text, lines

    def text(self, cases):
        """The kernels, the program's lines, and which case a line belongs to."""
        text = list(HEAD)
        lines, kernels = {}, []
        todo = list(cases)
        while todo:
            place = todo[0].place
            kernel, owned, count = Kernel(len(kernels)), [], 0
            kernel.place, kernel.cases = place, []
            while todo and todo[0].place == place and count < self.limit:
                before = (len(kernel.lines), len(kernel.results))
                todo[0].write(kernel)
                owned.append((before[0], len(kernel.lines), todo[0]))
                kernel.cases.append((before[1], len(kernel.results), todo[0]))
                todo.pop(0)
                count += 1
                if len(kernel.tensors) > MAX_TENSORS - 8:
                    break
            kernels.append(kernel)
            at = len(text) + 3  # the first line of the body, counted from 1
            kind = "Orchestration" if place == "orch" else "InCore"
            text += function(kernel, kind, f"k{kernel.number}", kernel.lines)
            for first, end, case in owned:
                for i in range(first, end):
                    lines[at + i] = case
        both = Kernel(0)
        for kernel in kernels:
            both.tensors.update(kernel.tensors)
        body = [f"self.k{k.number}({', '.join(k.tensors)})" for k in kernels]
        text += function(both, "Orchestration", "main", body)
        return kernels, text, lines

    def execute(self, name, tree, kernels, cases):
        files = self.work / f"{name}.arrays"
        files.mkdir(exist_ok=True)
        command = [str(tree / "bin" / name), "--timeout=60"]
        for kernel in kernels:
            for tensor in kernel.tensors.values():
                array = tensor.array()
                if tensor.dtype in ("BF16",):
                    array = array.view("V2")
                elif tensor.dtype.startswith("FP8"):
                    array = array.view("V1")
                np.save(files / f"{tensor.name}.npy", array)
                command += ["--in", f"{tensor.name}={files}/{tensor.name}.npy"]
            for out in kernel.outputs():
                command += ["--out", f"{out}={files}/{out}.out.npy"]
        done = self.call(command)
        if done.returncode != 0:
            return self.all_fail(cases, f"{name} ends with {done.returncode}: {done.stdout[-600:]}")
        for kernel in kernels:
            arrays = {}
            for out in kernel.outputs():
                raw = np.load(files / f"{out}.out.npy")
                arrays[out] = raw.view(STORAGE[kernel.tensors[out].dtype])
            for first, end, case in kernel.cases:
                case.outcome = "passed"
                for result, out, row in kernel.results[first:end]:
                    wrong = result.check(self.cut(arrays[out], result, row))
                    if wrong is not None:
                        case.outcome = f"failed: {wrong}"
                        break

    @staticmethod
    def cut(array, result, row):
        shape = result.expected.shape
        if row is None:
            return array.reshape(shape)
        if not shape:
            return array[row, 0]
        rows = int(np.prod(shape[:-1], dtype=int))
        return array[row:row + rows, :shape[-1]].reshape(shape)
