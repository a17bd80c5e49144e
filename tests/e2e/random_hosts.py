#!/usr/bin/env python3
"""Random programs of several ranks against numpy: transfers, notifies, waits and collectives, in kernels and on the host.

    random_hosts.py --pldc=build/src/driver/pldc [--programs=N] [--batch=N] [--seed=N] [--ranks=1,2,3,4] [--stops=N]

Each program is a host function with kernels of its own; a batch is one text. Each must also pass `pldc check --ranks N`.
Two of three are chains of collectives, see random_collectives.py. They run after the whole pipeline and after some of the passes
only. A failure prints the seed, the program and the element. The last line is `N passed, N failed`; a program counts once for
each run, a planted fault once.
"""
import argparse
import os
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from random_build import Builder, Failure, main_of  # noqa: E402
from random_collectives import KINDS, CollectiveProgram  # noqa: E402
from random_programs import stage_names  # noqa: E402
from random_table import makes  # noqa: E402

WIDTH, STEPS = 40, 6  # elements of a rank's row; steps of a kernel, each with a row of the box and a column of cells

OPS = {"add": np.add, "sub": np.subtract, "maximum": np.maximum, "minimum": np.minimum}
REDUCE = {"Sum": lambda v: v.sum(0), "Max": lambda v: v.max(0), "Min": lambda v: v.min(0)}


@makes(hosts="pld.system.get_comm_ctx pld.system.rank pld.system.nranks pld.system.world_size pld.system.notify "
       "pld.system.wait pld.tensor.alloc_window_buffer pld.tensor.window pld.tensor.allreduce pld.tensor.broadcast "
       "pld.tensor.barrier pld.tile.put pld.tile.get pld.tile.remote_load pld.tile.remote_store")
class HostProgram:
    """`lines` of the kernel, and `value`, which maps the rows of all ranks, [P, WIDTH], to the results of all ranks."""

    kind, width, ranks = "FP32", WIDTH, 0

    def __init__(self, rng, index):
        self.rng, self.index = rng, index
        self.lines, self.effects = [], []
        for step in range(int(rng.integers(2, STEPS + 1))):
            getattr(self, self.choice(["shift", "shift", "fetch", "mesh", "gather_at_root", "allreduce", "local", "by_rank",
                                       "barrier"]))(step)
        self.host = self.choice(["", "allreduce", "broadcast"])
        self.reduce = self.choice(list(REDUCE))

    def choice(self, items):
        return items[int(self.rng.integers(len(items)))]

    def value(self, rows):
        for effect in self.effects:
            rows = effect(rows)
        if self.host == "allreduce":
            rows = np.broadcast_to(REDUCE[self.reduce](rows), rows.shape)
        elif self.host == "broadcast":
            rows = np.broadcast_to(rows[0], rows.shape)
        return rows

    # ---- steps: `t` is the row of the rank
    def notify(self, peer, cell, value="1"):
        return f"pld.system.notify(sig, peer={peer}, offsets={cell}, value={value}, op=pld.NotifyOp.AtomicAdd)"

    def wait(self, cell, value="1", compare="Ge"):
        return f"pld.system.wait(sig, offsets={cell}, expected={value}, cmp=pld.WaitCmp.{compare})"

    def meet(self, step):
        """Everybody has come this far."""
        if self.rng.random() < 0.5:
            return ["for peer in pl.range(n):", "    if peer != me:", "        " + self.notify("peer", f"[me, {step}]"),
                    "for peer in pl.range(n):", "    if peer != me:", "        " + self.wait(f"[peer, {step}]")]
        return ["for peer in pl.range(n):", "    " + self.notify("peer", f"[0, {step}]"), self.wait(f"[0, {step}]", "n")]

    def shift(self, step):
        distance, op = int(self.rng.integers(1, 4)), self.choice(list(OPS))
        peer = f"(me + {distance}) % n"
        if self.rng.random() < 0.5:
            send = [f"pld.tile.remote_store(t, box, peer={peer}, offsets=[{step}, 0])"]
        else:
            send = ["y = pl.store(t, [0, 0], y)",
                    f"pld.tile.put(box, {peer}, y, stage, [{step}, 0], [0, 0], [1, {WIDTH}], "
                    "atomic=pld.AtomicType.None_)"]
        self.lines += send + [self.notify(peer, f"[0, {step}]"), self.wait(f"[0, {step}]", "1", self.choice(["Ge", "Eq"])),
                              f"u{step} = pl.load(box, [{step}, 0], [1, {WIDTH}])", f"t = pl.tile.{op}(t, u{step})"]
        self.effects.append(lambda v: OPS[op](v, np.roll(v, distance, axis=0)))

    def fetch(self, step):
        distance, op = int(self.rng.integers(0, 4)), self.choice(list(OPS))
        self.lines += [f"box = pl.store(t, [{step}, 0], box)"] + self.meet(step) + [
            f"u{step} = pld.tile.remote_load(box, peer=(me + {distance}) % n, offsets=[{step}, 0], shape=[1, {WIDTH}])",
            f"t = pl.tile.{op}(t, u{step})"]
        self.effects.append(lambda v: OPS[op](v, np.roll(v, -distance, axis=0)))

    def mesh(self, step):
        op = self.choice(["add", "maximum", "minimum"])
        self.lines += [f"box = pl.store(t, [{step}, 0], box)"] + self.meet(step) + [
            "for peer in pl.range(n):", "    if peer != me:",
            f"        u{step} = pld.tile.remote_load(box, peer=peer, offsets=[{step}, 0], shape=[1, {WIDTH}])",
            f"        t = pl.tile.{op}(t, u{step})"]
        self.effects.append(lambda v: np.broadcast_to({"add": v.sum, "maximum": v.max, "minimum": v.min}[op](0), v.shape))

    def gather_at_root(self, step):
        self.lines += [f"pld.tile.remote_store(t, box, peer=n - 1, offsets=[{step}, 0], atomic=pld.AtomicType.Add)"] + \
            self.meet(step) + [f"pld.tile.get(y, n - 1, box, stage, [0, 0], [{step}, 0], [1, {WIDTH}])", f"t = pl.load(y, [0, 0], [1, {WIDTH}])"]
        self.effects.append(lambda v: np.broadcast_to(v.sum(0), v.shape))

    def allreduce(self, step):
        op = self.choice(list(REDUCE))
        self.lines += ["data = pl.store(t, [0, 0], data)",
                       f"data = pld.tensor.allreduce(data, csig, op=pld.ReduceOp.{op})",
                       f"t = pl.load(data, [0, 0], [1, {WIDTH}])"]
        self.effects.append(lambda v: np.broadcast_to(REDUCE[op](v), v.shape))

    def barrier(self, step):
        self.lines.append("csig = pld.tensor.barrier(csig)")

    def local(self, step):
        op, number = self.choice(["adds", "subs", "maximums"]), float(self.rng.integers(-8, 9)) / 4
        self.lines.append(f"t = pl.tile.{op}(t, {number})")
        f = {"adds": np.add, "subs": np.subtract, "maximums": np.maximum}[op]
        self.effects.append(lambda v: f(v, np.float32(number)))

    def by_rank(self, step):
        odd, factor = int(self.rng.integers(0, 2)), self.choice([0.5, -1.0, 2.0])
        self.lines += [f"if me % 2 == {odd}:", f"    t = pl.tile.muls(t, {factor})"]
        self.effects.append(lambda v: np.where((np.arange(len(v)) % 2 == odd)[:, None], v * np.float32(factor), v))

    # ---- text
    def text(self):
        i = self.index
        row = f"pl.Tensor[[1, {WIDTH}], pl.FP32]"
        windows = (f"box: pl.InOut[pld.DistributedTensor[[{STEPS}, {WIDTH}], pl.FP32]], "
                   f"sig: pl.InOut[pld.DistributedTensor[[NR, {STEPS}], pl.INT32]], "
                   f"data: pl.InOut[pld.DistributedTensor[[1, {WIDTH}], pl.FP32]], "
                   "csig: pl.InOut[pld.DistributedTensor[[NR, 1], pl.INT32]]")
        body = ["ctx = pld.get_comm_ctx(box)", "me = pld.rank(ctx)", "n = pld.nranks(ctx)",
                f"t = pl.load(x, [0, 0], [1, {WIDTH}])", f"stage = pl.tile.create([1, {WIDTH}], dtype=pl.FP32)"] + self.lines
        if self.host:
            body.append("data = pl.store(t, [0, 0], data)")
        made = [f"    @pl.function(type=pl.FunctionType.InCore)\n    def k{i}(self, x: {row}, y: pl.Out[{row}], {windows}) -> {row}:"]
        made += ["        " + line for line in body] + ["        return pl.store(t, [0, 0], y)", ""]
        made += [f"    @pl.function(type=pl.FunctionType.Orchestration)\n    def chip{i}(self, x: {row}, y: pl.Out[{row}], {windows}) -> {row}:",
                 f"        return self.k{i}(x, y, box, sig, data, csig)", ""]
        data = f"data: pl.InOut[pld.DistributedTensor[[1, {WIDTH}], pl.FP32]]"
        if self.host:
            made += [f"    @pl.function(type=pl.FunctionType.InCore)\n    def out{i}(self, y: pl.Out[{row}], {data}) -> {row}:",
                     f"        return pl.store(pl.load(data, [0, 0], [1, {WIDTH}]), [0, 0], y)", "",
                     f"    @pl.function(type=pl.FunctionType.Orchestration)\n    def last{i}(self, y: pl.Out[{row}], {data}) -> {row}:",
                     f"        return self.out{i}(y, data)", ""]
        rows = f"pl.Tensor[[NR, 1, {WIDTH}], pl.FP32]"
        made += [f"    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n    def host{i}(self, xs: {rows}, ys: pl.Out[{rows}]) -> {rows}:",
                 f"        box{i} = pld.alloc_window_buffer({STEPS * WIDTH * 4})",
                 f"        sig{i} = pld.alloc_window_buffer(pld.world_size() * {STEPS * 4})",
                 f"        data{i} = pld.alloc_window_buffer({WIDTH * 4})",
                 f"        csig{i} = pld.alloc_window_buffer(pld.world_size() * 4)",
                 f"        hsig{i} = pld.alloc_window_buffer(pld.world_size() * 4)" if self.host else "",
                 f"        box = pld.window(box{i}, [{STEPS}, {WIDTH}], dtype=pl.FP32)",
                 f"        sig = pld.window(sig{i}, [pld.world_size(), {STEPS}], dtype=pl.INT32)",
                 f"        data = pld.window(data{i}, [1, {WIDTH}], dtype=pl.FP32)",
                 f"        csig = pld.window(csig{i}, [pld.world_size(), 1], dtype=pl.INT32)",
                 "        for r in pl.range(pld.world_size()):",
                 f"            self.chip{i}(xs[r], ys[r], box, sig, data, csig, device=r)"]
        if self.host:
            made.append(f"        hsig = pld.window(hsig{i}, [pld.world_size()], dtype=pl.INT32)")
            more = f"op=pld.ReduceOp.{self.reduce}" if self.host == "allreduce" else "root=0"
            made.append(f"        data = pld.tensor.{self.host}(data, hsig, {more})")
            made += ["        for r in pl.range(pld.world_size()):", f"            self.last{i}(ys[r], data, device=r)"]
        return "\n".join(made + ["        return ys", "", ""])


class Tester:
    def __init__(self, options, work):
        self.options, self.builder, self.work = options, Builder(options, work), work
        self.passed, self.failed = 0, 0

    def fail(self, seed, program, text):
        self.failed += 1
        print(f"FAIL --seed={seed} program {program.index}\n{program.text()}\n{text}", flush=True)

    def batch(self, seed, size):
        self.builder.begin(seed)
        rng = np.random.default_rng(seed)
        makers = [HostProgram, CollectiveProgram, CollectiveProgram]
        programs = [makers[i % 3](np.random.default_rng([seed, i]), i) for i in range(size)]
        text = ("import pypto.language as pl\nimport pypto.language.distributed as pld\n\nNR = pl.dynamic(\"NR\")\n"
                "ROUNDS = pl.dynamic(\"ROUNDS\")\n\n\n@pl.program\nclass Random:\n" + "\n".join(p.text() for p in programs))
        folder = self.work / f"hosts{seed}"
        folder.mkdir(parents=True)
        source = folder / "random.pld"
        source.write_text(text)
        try:
            for ranks in self.options.ranks[-2:]:
                said = self.builder.call([self.options.pldc, "check", f"--ranks={ranks}", source])
                if said:
                    raise Failure(said)
        except Failure as failure:
            self.failed += 1
            return print(f"FAIL --seed={seed}\n{failure}", flush=True)
        self.plant(seed, text, rng, folder)
        stages = [["--passes=NONE"]] + [[f"--stop-after={n}"] for n in rng.permutation(stage_names(self.options.pldc, 99))]
        for number, passes in enumerate([[]] + stages[:self.options.stops]):
            try:
                binary = self.builder.compile(source, folder / f"tree{number}", passes)
            except Failure as failure:
                self.failed += 1
                print(f"FAIL --seed={seed} --cxx={self.builder.cxx} {passes}\n{failure}", flush=True)
                continue
            for program in programs:
                counts = self.options.ranks if not passes else rng.permutation(self.options.ranks)[:1]
                for ranks in [program.ranks] if program.ranks else counts:
                    self.run(seed, program, binary, int(ranks), rng, folder, passes)
        return None

    def plant(self, seed, text, rng, folder):
        """Faults in the signals, one at a time, that the static match must find."""
        lines = text.splitlines(keepends=True)
        notifies = [i for i, line in enumerate(lines) if "pld.system.notify" in line]
        for kind in ("nothing is added", "wrong cell", "too much is expected"):
            for at in rng.choice(notifies, 2):
                changed = list(lines)
                if kind == "nothing is added":
                    changed[at] = lines[at].replace("value=1", "value=0")
                elif kind == "wrong cell":
                    column = int(lines[at].split("offsets=[")[1].split("]")[0].split(",")[1])
                    changed[at] = lines[at].replace(f", {column}]", f", {(column + 1) % STEPS}]")
                else:
                    at = next(i for i in range(at, len(lines)) if "pld.system.wait" in lines[i])
                    changed[at] = lines[at].replace("expected=1", "expected=9").replace("expected=n", "expected=n + 9")
                (folder / "planted.pld").write_text("".join(changed))
                done = subprocess.run([self.options.pldc, "check", "--ranks=3", folder / "planted.pld"],
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                if done.returncode == 1:
                    self.passed += 1
                    continue
                self.failed += 1
                print(f"FAIL --seed={seed}: {kind} in line {at + 1}, but check says:\n{done.stdout}\n{changed[at]}", flush=True)

    def run(self, seed, program, binary, ranks, rng, folder, passes):
        dtype = KINDS[program.kind]
        xs = (rng.integers(-16, 17, (ranks, 1, program.width)) / (4 if dtype == np.int32 else 8)).astype(dtype)
        np.save(folder / "xs.npy", xs)
        command = [binary, f"--entry=host{program.index}", f"--ranks={ranks}", "--timeout=60", "--check=signals,bounds",
                   f"--in=xs={folder}/xs.npy", f"--out=ys={folder}/ys.npy"]
        if rng.random() < 0.3:
            command.append("--repeat=2")
        try:
            self.builder.call(command)
        except Failure as failure:
            return self.fail(seed, program, f"{passes} with {ranks} ranks: {failure}")
        got, expected = np.load(folder / "ys.npy")[:, 0], program.value(xs[:, 0])
        if not np.array_equal(got, expected):
            r, c = np.argwhere(got != expected)[0]
            return self.fail(seed, program,
                             f"{passes} with {ranks} ranks: ys[{r}, {c}] is {got[r, c]}, should be {expected[r, c]}")
        self.passed += 1
        return None


def main():
    full = os.environ.get("PLDC_TEST_STAGES") == "all"
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2, 4, 7] if full else [1, 3])
    Builder.add_options(parser, few=9, many=400, batch=15)
    return main_of(Tester, parser)


if __name__ == "__main__":
    sys.exit(main())
