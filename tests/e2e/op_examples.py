"""The cases of ops_examples.json: each example becomes statements of a kernel or of an orchestration."""
import numpy as np

from op_batch import FLOATS, STORAGE, Case, Result, encode, is_int

# Operands that only lend their memory.
SCRATCH = {"tile.rem": 2, "tile.rems": 2, "tile.xor": 2, "tile.xors": 2, "tile.prelu": 2, "tile.sel": 3, "tile.sels": 2,
           "tile.gather": 2, "tile.gather_compare": 2, "tile.mrgsort_format2": 2, "tile.rsqrt": 1}
SCRATCH.update({f"tile.{way}_{what}": 1 for way in ("row", "col")
                for what in ("sum", "prod", "max", "min", "argmax", "argmin")})
MATRIX = ("matmul", "gemv")


def numbers(data):
    """Nested lists with the strings inf, -inf and nan, and null for cells that do not count: values and mask."""
    def real(x):
        return [real(y) for y in x] if isinstance(x, list) else 0 if x is None else float(x) if isinstance(x, str) else x

    def known(x):
        return [known(y) for y in x] if isinstance(x, list) else x is not None
    return real(data), np.array(known(data), bool)


def stored(data, dtype):
    """Nested lists as stored elements, and which of them count."""
    values, mask = numbers(data)
    if is_int(dtype) or dtype in ("BOOL", "FP8E8M0"):
        array = np.array(values, object)
        if dtype == "BOOL":
            return array.astype(np.bool_), mask
        if dtype == "FP8E8M0":
            return array.astype(np.uint8), mask
        return encode(array.reshape(mask.shape), dtype), mask
    return encode(np.array(values, np.float64), dtype), mask


def array_of(operand, dtype):
    """What an operand holds: (stored elements, dtype, valid shape or None)."""
    if isinstance(operand, list):
        return stored(operand, dtype)[0], dtype, None
    if "data" in operand:
        return stored(operand["data"], operand["dtype"])[0], operand["dtype"], operand.get("valid_shape")
    if "fill" in operand:
        return (encode(np.full(operand["shape"], float(operand["fill"])), operand["dtype"]), operand["dtype"],
                operand.get("valid_shape"))
    if "pairs" in operand:
        rows = np.array(operand["pairs"], np.float64)
        return pairs(rows), "FP32", None
    return None


def pairs(rows, index_dtype=np.uint32):
    """(value, index) pairs: FP32 values in even lanes, the bits of the index in odd ones."""
    out = rows.astype(np.float32)
    out.view(np.uint32)[..., 1::2] = rows[..., 1::2].astype(index_dtype)
    return out


def constant(value, dtype):
    if dtype == "BOOL":
        return str(bool(value))
    if dtype in FLOATS:
        return f"pl.const({float(value)!r}, pl.{dtype})"
    return f"pl.const({int(value)}, pl.{dtype})"


def keyword(key, value):
    if key in ("target_type", "dtype", "output_dtype", "count_dtype", "out_dtype"):
        return f"{key}=pl.{value}"
    if key in ("target_memory", "space"):
        return f"{key}=pl.Mem.{value}"
    if key == "layout":
        return f"{key}=pl.TensorLayout.{value}"
    if key == "pad_value":
        return f"{key}=pl.PadValue.{value}"
    if key == "atomic":
        return f"{key}=pl.AtomicType.{'Add' if value else 'None_'}"
    if isinstance(value, str):
        return f"{key}='{value}'"
    return f"{key}={value}"


def keywords(example, without=()):
    return "".join(f", {keyword(k, v)}" for k, v in example["kwargs"].items() if k not in without)


class Example:
    def __init__(self, number, example):
        self.number, self.e = number, example
        self.op = example["op"]
        self.leaf = self.op.split(".")[-1]

    def result(self, expected=None, dtype=None):
        expected = self.e["expected"] if expected is None else expected
        dtype = dtype or self.e.get("expected_dtype") or self.e["dtype"]
        dtype = "INT64" if dtype == "INDEX" else dtype
        if isinstance(expected, dict) and "fill" in expected:
            return Result(np.zeros(expected["shape"], STORAGE[dtype]), dtype, np.zeros(expected["shape"], bool))
        data, mask = stored(expected, dtype)
        if "lanes" in self.e:  # pairs: the indices are bits
            values, _ = numbers(expected)
            data = pairs(np.array(values, np.float64))
            return Result(data.view(np.uint32), "UINT32", mask)
        return Result(data, dtype, mask, self.e.get("tol", 0))

    def tile_operand(self, k, i, operand):
        """The text of operand i of a tile op."""
        if isinstance(operand, (int, float)):
            return str(operand)
        if isinstance(operand, dict) and "scalar" in operand:
            return constant(operand["scalar"], operand["dtype"])
        if isinstance(operand, dict) and "tuple" in operand:
            return str(operand["tuple"])
        array, dtype, valid = array_of(operand, self.e["dtype"])
        if SCRATCH.get(self.op) == i:
            return k.let(f"pl.tile.create({list(array.shape)}, dtype=pl.{dtype})", "tmp")
        if array.ndim > 2:
            name = k.own(array, dtype)
            shape = list(array.shape)
            space = ", target_memory=pl.Mem.Mat" if self.is_matrix() and dtype != "FP32" else ""
            return k.let(f"pl.tile.load({name}, {[0] * array.ndim}, {shape}{space})", "t")
        if self.is_matrix():
            return self.matrix_operand(k, i, array, dtype, valid)
        return k.tile(array, dtype, valid)

    def is_matrix(self):
        return any(word in self.leaf for word in MATRIX)

    def matrix_operand(self, k, i, array, dtype, valid):
        """Loaded into L1 and moved to where the matrix unit takes it."""
        first = 1 if self.leaf.endswith("_acc") else 0
        if self.leaf.endswith("_acc") and i == 0:
            return k.tile(array, dtype, valid, "Acc") if self.leaf != "gemv_acc" else self.gemv_acc(k, array, dtype)
        mat = k.tile(array, dtype, valid, "Mat")
        order = ["Left", "LeftScale", "Right", "RightScale"] if "_mx" in self.leaf else ["Left", "Right"]
        place = (order + ["Bias"])[i - first]
        return k.let(f"pl.tile.move({mat}, target_memory=pl.Mem.{place})", "m")

    def gemv_acc(self, k, array, dtype):
        full = np.zeros((16, array.shape[1]), array.dtype)
        full[:1] = array
        return k.tile(full, dtype, [1, array.shape[1]], "Acc")

    def tile_case(self, k):
        e = self.e
        args = [self.tile_operand(k, i, operand) for i, operand in enumerate(e["inputs"])]
        call = f"pl.{self.op}({', '.join(args)}{keywords(e)})"
        expected = e["expected"]
        if isinstance(expected, dict) and "counts" in expected:
            found, count = k.fresh("found"), k.fresh("count")
            k.line(f"{found}, {count} = {call}")
            k.store(found, self.result(expected["indices"], "INT32"))
            return k.store(count, self.result(expected["counts"], e["kwargs"]["count_dtype"]))
        value = k.let(call, "y")
        result = self.result()
        if "lanes" in e:
            value = k.let(f"pl.tile.reinterpret_view({value}, dtype=pl.UINT32)", "y")
        if result.expected.ndim == 0:
            return k.put_scalar(value, result)
        if result.expected.ndim > 2:
            name = k.own(np.zeros_like(result.expected), result.dtype, True)
            k.line(f"{name} = pl.tile.store({value}, {[0] * result.expected.ndim}, {name})")
            return k.wanted_own(result, name)
        k.store(value, result)

    # ---- ops on tensors in kernels

    def tensor_operand(self, k, operand):
        if isinstance(operand, (int, float)):
            return str(operand)
        if "scalar" in operand if isinstance(operand, dict) else False:
            return constant(operand["scalar"], operand["dtype"])
        if isinstance(operand, dict) and "tuple" in operand:
            parts = operand["tuple"]
            if len(parts) == 1 and isinstance(parts[0], dict):  # one list of indices
                return self.tensor_operand(k, parts[0])
            return "[" + ", ".join(self.tensor_operand(k, p) if isinstance(p, dict) else str(p) for p in parts) + "]"
        array, dtype, valid = array_of(operand, self.e["dtype"])
        name = k.own(array, dtype, self.writes(operand))
        if valid is None:
            return name
        return k.let(f"pl.tensor.slice({name}, {list(array.shape)}, {[0] * array.ndim}, {valid})", "s")

    def writes(self, operand):
        alias = self.e.get("aliases")
        if self.leaf not in ("assemble", "write"):
            return False
        return alias is not None and self.e["inputs"][alias] is operand

    def tensor_case(self, k):
        e = self.e
        args = [self.tensor_operand(k, operand) for operand in e["inputs"]]
        call = f"pl.{self.op}({', '.join(args)}{keywords(e)})"
        expected = e["expected"]
        if isinstance(expected, dict) and "counts" in expected:
            found, count = k.fresh("found"), k.fresh("count")
            k.line(f"{found}, {count} = {call}")
            self.assemble(k, found, self.result(expected["indices"], "INT32"))
            return self.assemble(k, count, self.result(expected["counts"], e["kwargs"]["count_dtype"]))
        value = k.let(call, "y")
        result = self.result()
        # Only these two write the memory of their operand; the others compute a new value in a kernel.
        if self.leaf in ("assemble", "write"):
            k.wanted_own(result, args[e["aliases"]])
        if self.leaf == "matmul" and result.expected.ndim == 0:
            return k.put_scalar(f"pl.tensor.read({value}, [])", result)
        if not isinstance(expected, (list, dict)):
            return k.put_scalar(f"pl.cast({value}, pl.INT64)" if e.get("expected_dtype") == "INDEX" else value, result)
        if "lanes" in e:
            value = k.let(f"pl.tensor.reinterpret_view({value}, dtype=pl.UINT32)", "y")
        self.assemble(k, value, result)

    def assemble(self, k, value, result):
        name = k.own(np.zeros_like(result.expected), result.dtype, True)
        k.line(f"{name} = pl.tensor.assemble({name}, {value}, {[0] * result.expected.ndim})")
        k.wanted_own(result, name)


# Operations of orchestrations: on tensors as wholes.
ORCHESTRATION = ("create", "slice", "reshape", "view", "transpose", "full", "assemble", "read", "write", "dim",
                 "set_validshape", "reinterpret_view")


def memory_case(example):
    """tile.load, store, mgather, mscatter, gather_row: a tensor and a tile."""
    def write(k):
        e, leaf = example.e, example.leaf
        rank3 = any(array_of(o, e["dtype"])[0].ndim > 2 for o in e["inputs"] if isinstance(o, list)
                    or "data" in o)
        args = []
        for i, operand in enumerate(e["inputs"]):
            is_tensor = (leaf, i) in (("load", 0), ("store", 2), ("mgather", 0), ("mscatter", 2), ("gather_row", 1))
            if not is_tensor:
                args.append(example.tile_operand(k, i, operand))
                continue
            array, dtype, valid = array_of(operand, e["dtype"])
            name = k.own(array, dtype, leaf in ("store", "mscatter"))
            if valid is not None:
                k.tensors[name].view = f", pl.TensorView(valid_shape={list(valid)}, stride=[], " \
                                       "layout=pl.TensorLayout.ND)"
            args.append(name)
        call = f"pl.{example.op}({', '.join(args)}{keywords(e)})"
        if leaf in ("store", "mscatter"):
            k.line(f"{args[2]} = {call}")
            return k.wanted_own(example.result(), args[2])
        value = k.let(call, "y")
        if rank3 and leaf == "load":
            name = k.own(np.zeros_like(example.result().expected), e["dtype"], True)
            k.line(f"{name} = pl.tile.store({value}, [0, 0, 0], {name})")
            return k.wanted_own(example.result(), name)
        k.store(value, example.result())
    return write


def array_case(example):
    def write(k):
        e = example.e
        if example.leaf == "create":
            name = k.let(f"pl.array.create({e['inputs'][0]}, dtype=pl.{e['kwargs']['dtype']})", "a")
            k.line(f"{name} = pl.array.update_element({name}, 3, pl.const(9, pl.INT32))")
            return k.put_scalar(k.let(f"pl.array.get_element({name}, 3)"), Result(np.int32(9), "INT32"))
        values = e["inputs"][0]["data"]
        name = k.let(f"pl.array.create({len(values)}, dtype=pl.INT32)", "a")
        for i, value in enumerate(values):
            name = k.let(f"pl.array.update_element({name}, {i}, pl.const({value}, pl.INT32))", "a")
        if example.leaf == "get_element":
            value = k.let(f"pl.array.get_element({name}, {e['inputs'][1]})")
            return k.put_scalar(value, example.result())
        new = k.let(f"pl.array.update_element({name}, {e['inputs'][1]}, "
                    f"{constant(e['inputs'][2]['scalar'], 'INT32')})", "a")
        for i, value in enumerate(e["expected"]):
            k.put_scalar(k.let(f"pl.array.get_element({new}, {i})"), Result(np.int32(value), "INT32"))
        for i, value in enumerate(values):
            k.put_scalar(k.let(f"pl.array.get_element({name}, {i})"), Result(np.int32(value), "INT32"))
    return write


def view_case(example):
    """A tile with no valid data outside of set_validshape; what it holds is stored as far as it is valid."""
    def write(k):
        e = example.e
        tile = example.tile_operand(k, 0, e["inputs"][0])
        value = k.let(f"pl.tile.set_validshape({tile}, {e['inputs'][1]}, {e['inputs'][2]})", "y")
        rows, cols = e["expected_valid_shape"]
        data, _ = stored(e["expected"], e["dtype"])
        inside = np.zeros(data.shape, bool)
        inside[:rows, :cols] = True
        k.store(value, Result(np.where(inside, data, 0).astype(data.dtype), e["dtype"]))
    return write


def move_case(example):
    """Through another memory and back."""
    def write(k):
        e = example.e
        array, dtype, valid = array_of(e["inputs"][0], e["dtype"])
        if e["kwargs"]["target_memory"] == "Vec":
            return k.store(k.let(f"pl.tile.move({k.tile(array, dtype, valid)}, target_memory=pl.Mem.Vec)", "y"),
                           example.result())
        there = k.let(f"pl.tile.move({k.tile(array, dtype, valid)}, target_memory=pl.Mem.Mat)", "m")
        k.store(k.let(f"pl.tile.move({there}, target_memory=pl.Mem.Vec)", "y"), example.result())
    return write


def cases(examples):
    """The cases of kernels and orchestrations, and the examples that need a program of their own or none."""
    out, other = [], []
    for number, e in enumerate(examples):
        example = Example(number, e)
        group, leaf = example.op.split(".")[0], example.leaf
        name = f"example {number} {example.op}"
        if "expected_error" in e or group in ("system", "prefetch", "pl") or e["dtype"] in ("INDEX", "PTR") or \
                leaf.startswith(("tpush", "tpop", "aiv_shard", "aic_gather")):
            other.append(example)
        elif group == "array":
            out.append(Case(name, example.op, array_case(example)))
        elif group == "tile":
            if leaf in ("load", "store", "mgather", "mscatter", "gather_row"):
                write = memory_case(example)
            elif leaf == "set_validshape":
                write = view_case(example)
            elif leaf == "move":
                write = move_case(example)
            else:
                write = example.tile_case
            place = "cube" if example.is_matrix() or leaf == "tget_scale_addr" else "kernel"
            out.append(Case(name, example.op, write, place))
        else:
            out.append(Case(name, example.op, example.tensor_case,
                            "orch" if leaf in ORCHESTRATION and "atomic" not in e["kwargs"] else "tensor kernel"))
    return out, other
