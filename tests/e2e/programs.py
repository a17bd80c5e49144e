#!/usr/bin/env python3
"""Builds and runs programs of the reference corpus, from the source and from the text after every pass, with several
numbers of ranks, and compares what they compute with numpy.

    programs.py --pldc=build/src/driver/pldc [--corpus=DIR] [--work=DIR] [--only=NAME,...] [--stages=source|all] [-k GLOB]
                [--sanitized]

The last line is `N passed, N failed`.
"""
import argparse
import fnmatch
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]


def numbers(shape, dtype, seed, small=False):
    """Multiples of 1/8 in [-2, 2], so that sums and products are exact in any order; `small`: plus or minus 1 or 2."""
    rng = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.integer):
        return rng.integers(0, 8, shape).astype(dtype)
    if small:
        return rng.choice([-1.0, 1.0, 2.0, 0.5], shape).astype(dtype)
    return (rng.integers(-16, 17, shape) / 8).astype(dtype)


def default_corpus():
    whole = ROOT.parent / "shared/corpus"
    return whole if whole.is_dir() else ROOT / "tests/data/corpus"


class Program:
    """inputs(P) gives the arrays of the inputs, expected(P, inputs) those of the outputs."""

    def __init__(self, name, inputs, expected, ranks=(1, 2, 3, 4, 8), scalars=None, checks="signals,bounds", entry=None):
        self.name, self.inputs, self.expected, self.ranks = name, inputs, expected, ranks
        self.scalars = scalars or {}
        self.checks = checks
        self.entry = entry


def same_on_all(values, p):
    return np.broadcast_to(values, (p,) + values.shape).copy()


def ring_shift(p, given):
    xs = given["xs"][:, 0]
    left = np.roll(xs, 1, axis=0)  # rank r gets the row of r - 1, twice
    return {"ys": (left + left)[:, None], "zs": same_on_all(xs.sum(0), p)[:, None]}


def all_to_all_v(p, given):
    cap, ys, ms = 4, np.zeros((p, p * 4, 32), np.float32), np.zeros((p, p, 1), np.int32)
    for rank in range(p):
        for source in range(p):
            ms[rank, source, 0] = min(given["ns"][source, rank, 0], cap)
            ys[rank, source * cap:(source + 1) * cap] = given["xs"][source, rank * cap:(rank + 1) * cap]
    return {"ys": ys, "ms": ms}


def scatter_sum(p, given):
    ys = given["xs"].copy()
    for rank in range(p):
        ys[rank, rank] = given["xs"][:, rank].sum(0)
    return {"ys": ys}


def subset(p, given):
    ys = np.zeros_like(given["xs"])
    ys[1] = ys[3] = given["xs"][1] + given["xs"][3]
    return {"ys": ys}


def xs(shape, dtype=np.float32, small=False):
    return lambda p: {"xs": numbers([p if n == "P" else n for n in shape], dtype, 1, small)}


def square(name, rows, value, entry="main", **scalars):
    """A program of x and o, [64, 64]: the given rows of o are value(x), the others stay zero."""
    def expected(p, given):
        o = np.zeros_like(given["x"])
        o[rows] = value(given["x"])[rows]
        return {"o": o}
    return Program(name, lambda p: {"x": numbers([64, 64], np.float32, 1)}, expected, (1,),
                   {key: str(scalar) for key, scalar in scalars.items()}, "bounds", entry)


FOUR = (4,)
F16 = np.float16
PROGRAMS = [
    Program("host_allreduce_explicit", xs(["P", 1, 384]), lambda p, g: {"ys": same_on_all(g["xs"].sum(0), p)}),
    Program("host_allreduce_implicit", xs(["P", 1, 1000], F16, True),
            lambda p, g: {"ys": same_on_all(g["xs"].max(0), p), "zs": same_on_all(g["xs"].prod(0), p)}),
    Program("host_allreduce_multicore", xs([4, 1, 2048]), lambda p, g: {"ys": same_on_all(g["xs"].sum(0), p)}, FOUR),
    Program("host_allreduce_loop", xs([4, 1, 128]), lambda p, g: {"ys": same_on_all(g["xs"].sum(0) * 16, p)}, FOUR),
    Program("host_allreduce_ring", xs([4, 1, 128]), lambda p, g: {"ys": same_on_all(g["xs"].sum(0), p)}, FOUR),
    Program("host_barrier", xs([4, 1, 128]), lambda p, g: {"ys": same_on_all(g["xs"].min(0), p)}, FOUR),
    Program("host_broadcast", xs([4, 1, 128]), lambda p, g: {"ys": same_on_all(g["xs"][2], p)}, FOUR),
    Program("host_allgather", xs([4, 1, 128]), lambda p, g: {"ys": same_on_all(g["xs"][:, 0], p)}, FOUR),
    Program("host_all_to_all", xs([4, 4, 128]), lambda p, g: {"ys": g["xs"].transpose(1, 0, 2)}, FOUR),
    Program("host_all_to_all_v",
            lambda p: {"xs": numbers([2, 8, 32], np.float32, 1), "ns": np.array([[[1], [9]], [[3], [0]]], np.int32)},
            all_to_all_v, (2,)),
    Program("host_reduce_scatter", xs([4, 4, 128]), scatter_sum, FOUR),
    Program("host_subset_pair", xs([4, 1, 128]), subset, FOUR),
    Program("incore_allreduce_mesh", xs([4, 1, 1024]), lambda p, g: {"ys": same_on_all(g["xs"].sum(0), p)}, FOUR),
    Program("incore_allreduce_ring", xs([4, 1, 1024]), lambda p, g: {"ys": same_on_all(g["xs"].sum(0), p)}, FOUR),
    Program("incore_allreduce_max", xs([4, 1, 5000]), lambda p, g: {"ys": same_on_all(g["xs"].max(0), p)}, FOUR),
    Program("incore_allreduce_min", xs([4, 1, 64]), lambda p, g: {"ys": same_on_all(g["xs"].min(0), p)}, FOUR),
    Program("incore_allreduce_prod", xs([4, 1, 64], np.float32, True),
            lambda p, g: {"ys": same_on_all(g["xs"].prod(0), p)}, FOUR),
    Program("incore_ring_uneven", xs([3, 1, 104]), lambda p, g: {"ys": same_on_all(g["xs"].max(0), p)}, (3,)),
    Program("incore_broadcast", xs([4, 1, 64]), lambda p, g: {"ys": same_on_all(g["xs"][1], p)}, FOUR),
    Program("incore_reduce_scatter", xs([4, 4, 64]), lambda p, g: {"ys": g["xs"].sum(0)[:, None]}, FOUR),
    Program("incore_allgather", xs([4, 1, 64]), lambda p, g: {"ys": same_on_all(g["xs"][:, 0], p)}, FOUR),
    Program("incore_all_to_all", xs([4, 4, 64]), lambda p, g: {"ys": g["xs"].transpose(1, 0, 2)}, FOUR),
    Program("mesh_by_hand", xs(["P", 1, 256]), lambda p, g: {"ys": same_on_all(g["xs"].sum(0), p)}, checks="bounds"),
    Program("rma_ring_shift", xs(["P", 1, 96]), ring_shift, checks="bounds"),
    Program("two_domains", xs([4, 1, 64]), lambda p, g: {}, (3, 4)),
    Program("two_hosts", xs([2, 1, 32]), lambda p, g: {}, (2,), entry="host_a"),
    Program("two_hosts", xs([2, 1, 32]), lambda p, g: {}, (2,), entry="host_b"),
    Program("vec_scale_add",
            lambda p: {"a": numbers([64, 128], np.float32, 1), "b": numbers([64, 128], np.float32, 2)},
            lambda p, g: {"out": g["a"] * np.float32(1.5) + g["b"]}, (1,), {"k": "1.5"}, "bounds"),
    Program("dynamic_rows", lambda p: {"x": numbers([7, 128], np.float32, 1)}, lambda p, g: {"y": -np.abs(g["x"])}, (1,),
            checks="bounds"),
    Program("spmd_blocks", lambda p: {"x": numbers([128, 64], np.float32, 1)}, lambda p, g: {"y": g["x"] * 3}, (1,),
            checks="bounds"),
    Program("submit_deps", lambda p: {"x": numbers([16, 64], np.float32, 1)},
            lambda p, g: {"a": g["x"] + 1, "b": g["x"] + 2}, (1,), checks="bounds"),
    Program("tensor_ops_orch", lambda p: {"x": numbers([4, 32, 64], np.float32, 1)},
            lambda p, g: {"y": (g["x"][2] + g["x"][1]).reshape(64, 32).T.copy()}, (1,), {"idx": "2"}, "bounds"),
    square("pass_ctrlflow_break_and_continue", np.r_[48:64], lambda x: x, "kern", n=32),
    square("pass_ctrlflow_break_and_continue", np.r_[0:16, 32:64], lambda x: x, "kern", n=5),
    square("pass_ctrlflow_break_in_inner_loop", np.r_[0:64], lambda x: x, "kern", n=100),
    square("pass_ctrlflow_break_toplevel_rejected", np.r_[0:32], lambda x: x, "kern", n=32),
    square("pass_ctrlflow_continue_with_carry", np.r_[16:64], lambda x: x, "kern", n=1),
    square("pass_ctrlflow_continue_else_and_nested", np.r_[16:48], lambda x: x + 1, "kern", n=15),
    square("pass_inline_loop_and_return", np.r_[0:64], lambda x: x * 2, "kern", f="2.0"),
    square("pass_inline_nested_helpers", np.r_[16:32], lambda x: x, "kern", n=64),
    square("pass_unroll_step_and_comment", np.r_[0:64], lambda x: x, "kern"),
    square("pass_unroll_nested_product", np.r_[0:64], lambda x: x, "kern"),
    square("pass_unroll_descending_and_empty", np.r_[0:64], lambda x: x, "kern"),
    square("pass_cluster_group_call", np.r_[0:16], lambda x: x + 1, n=0),
    square("pass_cluster_named_in_loop", np.r_[0:48], lambda x: x + 1, n=3),
    square("pass_cluster_spmd_standalone", np.r_[0:64], lambda x: x + 1, n=0),
    square("pass_cluster_spmd_in_cluster", np.r_[0:64], lambda x: x + 1, n=2),
    square("pass_incore_store_targets", np.r_[0:64], lambda x: np.concatenate([x[:32], x[:32]]), n=0),
]


def run(command, **kwargs):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **kwargs)


class Runner:
    def __init__(self, options):
        self.options = options
        self.passed, self.failed = 0, 0

    def fail(self, what, text):
        self.failed += 1
        print(f"FAIL {what}\n{text.rstrip()[-3000:]}", flush=True)

    def build(self, program, text, tree):
        """A stage is built without any pass, the source as a user would."""
        if self.options.gen:
            made = run([self.options.gen, str(text), str(tree), "", program.name])
            if made.returncode == 0:
                made = run(["make", "-s", "-j2", "-C", str(tree), "all"])
            return made, tree / "bin" / program.name
        command = [self.options.pldc, "build", str(text), "-o", str(tree), "-j2"]
        if text.name != "source.pld":
            command.append("--passes=NONE")
        return run(command), tree / "bin" / text.stem

    def stages(self, folder):
        yield folder / "source.pld"
        if self.options.stages == "all":
            for text in sorted(folder.glob("[0-9]*.pld")):
                if ".from_text" not in text.name:
                    yield text
            for text in sorted((folder.parent / "dump" / folder.name).glob("[0-9]*.pld")):
                yield text

    def run_program(self, program, work):
        folder = self.options.corpus / program.name
        if not folder.is_dir():
            return
        for text in self.stages(folder):
            what = f"{program.name}{'' if text.parent == folder else '/dump'}/{text.name}"
            if self.options.k and not fnmatch.fnmatch(what, self.options.k):
                continue
            tree = work / what.replace("/", "-").removesuffix(".pld")
            tree.mkdir(parents=True, exist_ok=True)
            made, binary = self.build(program, text, tree)
            if made.returncode != 0:
                self.fail(what + ": build", made.stdout)
                continue
            for ranks in program.ranks:
                self.run_binary(program, what, binary, ranks, work, text.name == "source.pld")

    def run_sanitized(self, work):
        """Generated programs under the sanitizers, on threads and in seeded orders."""
        seen = set()
        for program in PROGRAMS:
            folder = self.options.corpus / program.name
            many = max(program.ranks) > 1 or program.name == "spmd_blocks"  # or blocks
            if program.name in seen or not many or not folder.is_dir():
                continue
            seen.add(program.name)
            self.run_sanitized_program(program, folder / "source.pld", work)

    def run_sanitized_program(self, program, text, work):
        name = program.name
        ranks = max(r for r in program.ranks if r <= 4)
        for flags in "thread", "address,undefined":
            tree = work / f"{name}-{flags.replace(',', '-')}"
            made = run([self.options.pldc, "build", str(text), "-o", str(tree), "-j2",
                        f"--cxxflags=-g -fsanitize={flags} -fno-sanitize-recover=all"])
            if made.returncode != 0:
                self.fail(f"{name} -fsanitize={flags}: build", made.stdout)
                continue
            command = [str(tree / "bin" / text.stem), "--random", "--ranks", str(ranks)] if ranks > 1 else [
                str(tree / "bin" / text.stem), "--random"]
            command += [f"--entry={program.entry}"] if program.entry else []
            for more in ["--repeat=20"], ["--check=races,bounds"], ["--schedule=seeded", "--schedules=20", "--check=races"]:
                result = run(command + more)
                if result.returncode != 0 or "SUMMARY" in result.stdout or "runtime error" in result.stdout:
                    self.fail(f"{name} -fsanitize={flags} {' '.join(more)}", result.stdout)
                else:
                    self.passed += 1

    def run_binary(self, program, what, binary, ranks, work, text_is_first):
        given = program.inputs(ranks)
        expected = program.expected(ranks, given)
        command = [str(binary), f"--check={program.checks}", "--timeout=60"]
        if ranks > 1 or any(r > 1 for r in program.ranks):
            command += ["--ranks", str(ranks)]
        if program.entry:
            command += [f"--entry={program.entry}"]
        files = work / "arrays"
        files.mkdir(exist_ok=True)
        for name, array in given.items():
            np.save(files / f"{name}.npy", array)
            command += ["--in", f"{name}={files}/{name}.npy"]
        for name, value in program.scalars.items():
            command += ["--scalar", f"{name}={value}"]
        for name in expected:
            command += ["--out", f"{name}={files}/out_{name}.npy"]
        result = run(command)
        title = f"{what} --ranks {ranks}{' ' + program.entry if program.entry else ''}"
        if result.returncode != 0:
            return self.fail(title, " ".join(command) + "\n" + result.stdout)
        for name, array in expected.items():
            got = np.load(files / f"out_{name}.npy")
            if got.shape != array.shape or got.dtype != array.dtype or not np.array_equal(got, array):
                wrong = np.argwhere(got != array)[:3].tolist() if got.shape == array.shape else got.shape
                return self.fail(title, f"{name} differs, first at {wrong}")
        self.passed += 1
        if text_is_first and ranks > 1 and ranks == max(r for r in program.ranks if r <= 4):
            # Orders of the ranks, and what signals do not order.
            orders = 100 if self.options.stages == "all" else 3
            seeded = run(command + ["--schedule=seeded", f"--schedules={orders}",
                                    f"--check=races,{program.checks}"])
            if seeded.returncode != 0:
                return self.fail(title + " seeded", seeded.stdout)
            self.passed += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pldc", default=str(ROOT / "build/src/driver/pldc"))
    parser.add_argument("--gen", help="a program that only generates: GEN FILE DIR ENTRY STEM")
    parser.add_argument("--corpus", type=pathlib.Path,
                        default=os.environ.get("PLDC_CORPUS") or default_corpus())
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--stages", choices=["source", "all"],
                        default=os.environ.get("PLDC_TEST_STAGES", "source"))
    parser.add_argument("-k", help="only texts whose PROGRAM/FILE matches")
    parser.add_argument("--sanitized", action="store_true",
                        help="only those of several ranks or blocks, under ThreadSanitizer and AddressSanitizer")
    options = parser.parse_args()
    options.corpus = pathlib.Path(options.corpus)
    runner = Runner(options)
    wanted = options.only.split(",") if options.only else None
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or pathlib.Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        for program in PROGRAMS:
            if not options.sanitized and (wanted is None or program.name in wanted):
                runner.run_program(program, work)
        if options.sanitized or (options.stages == "all" and not options.gen and wanted is None):
            runner.run_sanitized(work)
    print(f"{runner.passed} passed, {runner.failed} failed")
    return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
