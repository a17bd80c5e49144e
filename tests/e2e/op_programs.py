"""Examples that need more than one function or a launch: pipes between cores, blocks, barriers, tasks, errors."""
import numpy as np

from op_batch import HEAD, Case, Kernel, Result, encode
from op_examples import array_of, keywords, stored

F32 = "pl.FP32"


def tensor(shape, dtype, way=""):
    text = f"pl.Tensor[{list(shape)}, pl.{dtype}]"
    return f"pl.{way}[{text}]" if way else text


def lanes(e, lane):
    data = e["expected"].get(f"lane{lane}_pop", e["expected"].get(f"lane{lane}"))
    return None if data is None else stored(data, "FP32")[0]


def push_to_aiv(n, e):
    """The cube side pushes, each lane stores what it pops."""
    def write(parts):
        split = e["kwargs"]["split"]
        pushed = [stored(x, "FP32")[0] for x in e.get("context", {}).get("pushed", [])]
        pushed = pushed or [array_of(e["inputs"][0], "FP32")[0]]
        if "sequence" in e["expected"]:
            wanted = stored(e["expected"]["sequence"], "FP32")[0]
        else:
            first = lanes(e, 0)
            second = lanes(e, 1)
            wanted = np.stack([first, np.zeros_like(first) if second is None else second])
        x = parts.k.own(np.concatenate(pushed), "FP32")
        y = parts.k.own(np.zeros((wanted.shape[0] * wanted.shape[1], wanted.shape[2]), np.float32), "FP32", True)
        shape, got = list(pushed[0].shape), list(wanted.shape[1:])
        cube = ["peer = pl.system.import_peer_buffer(name='c2v', peer_func='vector%d')" % n,
                "pl.system.aic_initialize_pipe(peer, 0, dir_mask=1, slot_size=4096)"]
        vector = ["buf = pl.system.reserve_buffer(name='c2v', size=8192)",
                  "pl.system.aiv_initialize_pipe(buf, 0, dir_mask=1, slot_size=4096)",
                  "lane = pl.tile.get_subblock_idx()"]
        for i in range(len(pushed)):
            cube += [f"t{i} = pl.tile.load(x, [{i * shape[0]}, 0], {shape}, target_memory=pl.Mem.Mat)",
                     f"pl.tile.tpush_to_aiv(t{i}, split={split})"]
            at = f"lane * {got[0]}" if len(pushed) == 1 else str(i * got[0])
            vector += [f"p{i}: pl.Tile[{got}, {F32}, pl.Mem.Vec] = pl.tile.tpop_from_aic(split={split})",
                       f"y = pl.tile.store(p{i}, [{at}, 0], y)", f"pl.system.tfree_to_aic(p{i})"]
        parameters = f"x: {tensor(parts.k.tensors[x].data.shape, 'FP32')}, " \
                     f"y: {tensor(parts.k.tensors[y].data.shape, 'FP32', 'InOut')}"
        parts.k.line(f"{parts.group(n, parameters, cube, vector, split)}({x}, {y})")
        parts.k.wanted_own(Result(wanted.reshape(-1, got[1]), "FP32"), y)
    return write


def push_to_aic(n, e):
    """Both lanes push, the cube side stores what it pops."""
    def write(parts):
        split, context = e["kwargs"]["split"], e["context"]
        halves = [stored(context[key], "FP32")[0] for key in context]
        wanted = stored(e["expected"]["aic_pop"] if isinstance(e["expected"], dict) else e["expected"], "FP32")[0]
        x = parts.k.own(np.concatenate(halves), "FP32")
        y = parts.k.own(np.zeros_like(wanted), "FP32", True)
        shape, got = list(halves[0].shape), list(wanted.shape)
        vector = ["peer = pl.system.import_peer_buffer(name='v2c', peer_func='cube%d')" % n,
                  "pl.system.aiv_initialize_pipe(0, peer, dir_mask=2, slot_size=4096)",
                  "lane = pl.tile.get_subblock_idx()", f"t = pl.tile.load(x, [lane * {shape[0]}, 0], {shape})",
                  f"pl.tile.tpush_to_aic(t, split={split})"]
        cube = ["buf = pl.system.reserve_buffer(name='v2c', size=8192)",
                "pl.system.aic_initialize_pipe(0, buf, dir_mask=2, slot_size=4096)",
                f"p: pl.Tile[{got}, {F32}, pl.Mem.Mat] = pl.tile.tpop_from_aiv(split={split})",
                "y = pl.tile.store(p, [0, 0], y)", "pl.system.tfree_to_aiv(p)"]
        parameters = f"x: {tensor(parts.k.tensors[x].data.shape, 'FP32')}, y: {tensor(wanted.shape, 'FP32', 'InOut')}"
        parts.k.line(f"{parts.group(n, parameters, cube, vector, split)}({x}, {y})")
        parts.k.wanted_own(Result(wanted, "FP32"), y)
    return write


def shard(n, e):
    """Each lane of a split region stores its half."""
    def write(parts):
        whole = array_of(e["inputs"][0], "FP32")[0]
        wanted = np.concatenate([lanes(e, 0), lanes(e, 1)])
        rows = lanes(e, 0).shape[0]
        tensors = e["op"].startswith("tensor")
        x = parts.k.own(whole, "FP32")
        y = parts.k.own(np.zeros_like(wanted), "FP32", True)
        parts.add("InCore", f"shard{n}",
                  f"x: {tensor(whole.shape, 'FP32')}, y: {tensor(wanted.shape, 'FP32', 'InOut')}",
                  [f"t = pl.tensor.slice(x, {list(whole.shape)}, [0, 0])" if tensors else
                   f"t = pl.tile.load(x, [0, 0], {list(whole.shape)}, target_memory=pl.Mem.Mat)",
                   "for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):",
                   f"    half = pl.{e['op']}(t)",
                   f"    y = pl.tensor.assemble(y, half, [lane * {rows}, 0])" if tensors else
                   f"    y = pl.tile.store(half, [lane * {rows}, 0], y)"])
        parts.k.line(f"self.shard{n}({x}, {y})")
        parts.k.wanted_own(Result(wanted, "FP32"), y)
    return write


def join(n, e):
    """The two lanes' halves as one tile of the cube side."""
    def write(parts):
        context = e["context"]
        halves = [stored(context[key], "FP32")[0] for key in ("lane0", "lane1")]
        wanted = stored(e["expected"], "FP32")[0]
        x = parts.k.own(np.concatenate(halves), "FP32")
        y = parts.k.own(np.zeros_like(wanted), "FP32", True)
        rows, cols = halves[0].shape
        tensors = e["op"].startswith("tensor")
        parts.add("InCore", f"join{n}", f"x: {tensor(wanted.shape, 'FP32')}, y: {tensor(wanted.shape, 'FP32', 'InOut')}",
                  ["for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):",
                   f"    half = pl.tensor.slice(x, [{rows}, {cols}], [lane * {rows}, 0])" if tensors else
                   f"    half = pl.tile.load(x, [lane * {rows}, 0], [{rows}, {cols}])",
                   f"    whole = pl.{e['op']}(half)",
                   "y = pl.tensor.assemble(y, whole, [0, 0])" if tensors else "y = pl.tile.store(whole, [0, 0], y)"])
        parts.k.line(f"self.join{n}({x}, {y})")
        parts.k.wanted_own(Result(wanted, "FP32"), y)
    return write


def blocks(n, e):
    """Every block of a launch stores the scalar into its own row, twice as many rows when there are two lanes."""
    def write(parts):
        context, op = e.get("context", {}), e["op"]
        two = op.endswith("get_subblock_idx")
        if two:  # one block with two lanes: a group is no launch of many
            context = dict(context, core_num=1, block=0)
        count = context.get("core_num", 1)
        if op.startswith("tensor") and "context" not in e:  # an orchestration is no block of a launch
            return parts.k.put_scalar(parts.k.let(f"pl.cast(pl.{op}(), pl.INT32)"),
                                      Result(np.int32(e["expected"]), "INT32"))
        wanted = np.zeros((2 * count, 8), np.int32)
        row = 2 * context.get("block", 0) + context.get("lane", 0)
        mask = np.zeros(wanted.shape, bool)
        mask[row, 0] = True
        wanted[row, 0] = e["expected"]
        y = parts.k.own(np.zeros_like(wanted), "INT32", True)
        parameters = f"y: {tensor(wanted.shape, 'INT32', 'InOut')}"
        body = ["block = pl.tile.get_block_idx()", "lane = pl.tile.get_subblock_idx()", f"value = pl.{op}()",
                "y = pl.tensor.write(y, [block * 2 + lane, 0], pl.cast(value, pl.INT32))"]
        if two:
            half = ["t: pl.Tile[[1, 8], pl.INT32, pl.Mem.Vec] = pl.tile.tpop_from_aic(split=1)",
                    "pl.system.tfree_to_aic(t)"]
            whole = ["t = pl.tile.load(y, [0, 0], [2, 8], target_memory=pl.Mem.Mat)", "pl.tile.tpush_to_aiv(t, split=1)"]
            call = parts.group(n, parameters, whole, half + body, 1)
        else:
            parts.add("InCore", f"blocks{n}", parameters, body)
            call = f"self.blocks{n}"
        if count > 1:
            parts.k.line(f"with pl.spmd({count}, name_hint='launch{n}'):")
            parts.k.line(f"    {call}({y})")
        else:
            parts.k.line(f"{call}({y})")
        parts.k.wanted_own(Result(wanted, "INT32", mask), y)
    return write


def barrier(n, e):
    """Each block stores 1 into its cell before the barrier and adds up all cells after it."""
    def write(parts):
        count = e["context"]["core_num"]
        cells = parts.k.own(np.zeros((count, 8), np.int32), "INT32", True)
        sums = parts.k.own(np.zeros((count, 8), np.int32), "INT32", True)
        parameters = f"cells: {tensor((count, 8), 'INT32', 'InOut')}, sums: {tensor((count, 8), 'INT32', 'InOut')}"
        body = ["block = pl.tile.get_block_idx()",
                "cells = pl.tensor.write(cells, [block, 0], pl.const(1, pl.INT32))",
                f"pl.system.syncall({keywords(e)[2:]})"]
        body += [f"v{i} = pl.tensor.read(cells, [{i}, 0])" for i in range(count)]
        body += ["sums = pl.tensor.write(sums, [block, 0], " + " + ".join(f"v{i}" for i in range(count)) + ")"]
        parts.add("InCore", f"meet{n}", parameters, body)
        parts.k.line(f"with pl.spmd({count}, sync_start=True, name_hint='meeting{n}'):")
        parts.k.line(f"    self.meet{n}({cells}, {sums})")
        wanted = np.zeros((count, 8), np.int32)
        wanted[:, 0] = e["expected"]["after"]
        parts.k.wanted_own(Result(wanted, "INT32"), sums)
    return write


def inert(n, e):
    """An operation without a value between a load and a store, which must go through unchanged."""
    def write(parts):
        op, leaf = e["op"], e["op"].split(".")[-1]
        data = encode(np.arange(64).reshape(1, 64), "FP32")
        x, y = parts.k.own(data, "FP32"), parts.k.own(np.zeros_like(data), "FP32", True)
        parameters = f"x: {tensor(data.shape, 'FP32')}, y: {tensor(data.shape, 'FP32', 'InOut')}"
        body = ["t = pl.tile.load(x, [0, 0], [1, 64])"]
        end = ["y = pl.tile.store(t, [0, 0], y)"]
        pipes = {0: "pl.PipeType.MTE2", 1: "pl.PipeType.V", 2: "pl.PipeType.V"}
        if leaf in ("sync_src", "sync_dst"):
            for one in ("sync_src", "sync_dst"):
                body.append(f"pl.system.{one}(set_pipe={pipes[0]}, wait_pipe={pipes[1]}, event_id=0)")
        elif leaf in ("sync_set", "sync_wait"):
            body += [f"pl.system.sync_set(pipe={pipes[2]}, event_id={e['kwargs']['event_id']})",
                     f"pl.system.sync_wait(pipe={pipes[2]}, event_id={e['kwargs']['event_id']})"]
        elif leaf == "set_ffts":
            w = parts.k.own(np.zeros((1, 256), np.int64), "INT64", True)
            parameters += f", w: {tensor((1, 256), 'INT64', 'InOut')}"
            body.append("pl.system.set_ffts(w)")
            y = f"{y}, {w}"
        elif leaf == "alloc":
            body.append(f"m = pl.{op}(pl.Mem.Vec, 64)")
        elif leaf in ("available_cluster_count", "available_aiv_count", "reserve_buffer", "import_peer_buffer"):
            body.append(f"n = pl.{op}({keywords(e)[2:]})")
        elif leaf.endswith("initialize_pipe"):
            body.append(f"pl.{op}(0, 0, dir_mask=1, slot_size=4096)")
        elif e["op"].startswith("prefetch"):
            body += ["ctx = pl.prefetch.make_context()", "ev = pl.prefetch.async_prefetch(x, ctx)",
                     "ses = pl.prefetch.session(ctx)", "done = pl.prefetch.wait(ev, ses)"]
            if leaf == "wait":
                flag = parts.k.own(np.zeros((1, 1), bool), "BOOL", True)
                parts.k.wanted_own(Result(np.ones((1, 1), bool), "BOOL"), flag)
                parameters += f", flag: {tensor((1, 1), 'BOOL', 'InOut')}"
                body.append("flag = pl.tensor.write(flag, [0, 0], done)")
                y = f"{y}, {flag}"
        else:
            body.append(f"pl.{op}()")
        parts.add("InCore", f"inert{n}", parameters, body + end)
        parts.k.line(f"self.inert{n}({x}, {y})")
        parts.k.wanted_own(Result(data, "FP32"), y.split(",")[0])
    return write


def number(n, e):
    """A scalar of a kernel, written into a cell."""
    def write(parts):
        op, leaf = e["op"], e["op"].split(".")[-1]
        wanted = {"available_cluster_count": 24, "available_aiv_count": 48}.get(leaf, e["expected"])
        y = parts.k.own(np.zeros((1, 8), np.int32), "INT32", True)
        parameters = f"y: {tensor((1, 8), 'INT32', 'InOut')}"
        args = keywords(e, ("peer_func",))[2:]
        if leaf == "import_peer_buffer":
            parts.add("AIV", f"peer{n}", parameters, [f"b = pl.system.reserve_buffer(name='b', size=64, base={wanted})"])
            args += f", peer_func='peer{n}'"
        parts.add("InCore", f"number{n}", parameters,
                  [f"v = pl.{op}({args})", "y = pl.tensor.write(y, [0, 0], v)"])
        parts.k.line(f"self.number{n}({y})")
        mask = np.zeros((1, 8), bool)
        mask[0, 0] = True
        parts.k.wanted_own(Result(np.full((1, 8), wanted, np.int32), "INT32", mask), y)
    return write


def task(n, e):
    """Task ids in the orchestration."""
    def write(parts):
        leaf = e["op"].split(".")[-1]
        valid = leaf == "task_dummy" or (leaf == "task_is_valid" and e["expected"])
        id_name = parts.k.let(f"pl.system.{'task_dummy' if valid else 'task_invalid'}()", "id")
        ok = parts.k.let(f"pl.system.task_is_valid({id_name})", "ok")
        parts.k.put_scalar(ok, Result(np.array(bool(valid)), "BOOL"))
    return write


def submit(n, e):
    """A task behind a gate."""
    def write(parts):
        context = e["context"]
        gate = parts.k.own(np.full((8,), context["gate"], np.int32), "INT32")
        out = parts.k.own(np.full((1, 8), context["out_before"], np.int32), "INT32", True)
        kind = tensor((1, 8), "INT32", "InOut")
        parts.add("InCore", f"task{n}", f"y: {kind}",
                  [f"t = pl.tile.full([1, 8], dtype=pl.INT32, value={context['task_writes']})",
                   "return pl.tile.store(t, [0, 0], y)"], tensor((1, 8), "INT32"))
        parts.k.line(f"r{n}, id{n} = pl.submit(self.task{n}, {out}, predicate=({gate}[0] > 0))")
        parts.k.wanted_own(Result(np.full((1, 8), e["expected"]["out"], np.int32), "INT32"), out)
    return write


def error_text(example):
    """The example as a program of its own, which must be refused."""
    k = Kernel(0)
    e = example.e
    if example.op.startswith("tensor"):
        args = [example.tensor_operand(k, operand) for operand in e["inputs"]]
    else:
        args = []
        for i, operand in enumerate(e["inputs"]):
            is_tensor = (example.leaf, i) in (("load", 0), ("store", 2))
            args.append(example.tensor_operand(k, operand) if is_tensor else example.tile_operand(k, i, operand))
    k.line(f"y = pl.{example.op}({(', '.join(args) + keywords(e)).lstrip(', ')})")
    k.own(np.zeros((1, 8), np.float32), "FP32", True)
    return "\n".join(HEAD + ["    @pl.function(type=pl.FunctionType.InCore)", f"    def k(self, {k.parameters()}):"]
                     + ["        " + line for line in k.lines]) + "\n"


def case_of(example):
    """The case of an example that is not of a single kernel; None if it is an error."""
    e, op, leaf, n = example.e, example.op, example.leaf, example.number
    table = {
        "tpush_to_aiv": push_to_aiv, "tpop_from_aic": push_to_aiv, "tpush_to_aic": push_to_aic,
        "tpop_from_aiv": push_to_aic, "aiv_shard": shard, "aic_gather": join, "get_block_idx": blocks,
        "get_block_num": blocks, "get_subblock_idx": blocks, "syncall": barrier, "submit": submit,
        "available_cluster_count": number, "available_aiv_count": number, "reserve_buffer": number,
        "import_peer_buffer": number, "task_invalid": task, "task_dummy": task, "task_is_valid": task,
        "tfree_to_aic": None, "tfree_to_aiv": None,
    }
    if leaf in ("tfree_to_aic", "tfree_to_aiv"):  # shown by the pipes
        return None
    write = table.get(leaf, inert)
    place = "pipes" if write in (push_to_aic, push_to_aiv) or leaf == "get_subblock_idx" else "program"
    ops = [op] + (["system.tfree_to_aic", "system.tfree_to_aiv"] if place == "pipes" else [])
    return Case(f"example {n} {op}", ops, write(n, e), place)
