#!/usr/bin/env python3
"""--target=mpi: programs whose ranks are processes, over shared memory and over TCP, against numpy and against --target=sim;
what users see when a rank dies, when nothing can move, when the processes do not belong together; a file for each rank.

    mpi.py --pldc=build/src/driver/pldc [--full] [--work=DIR] [-k TEXT]

Every collective and every program of the corpus that has several ranks, on 2 and 4. Without --full (or PLDC_TEST_STAGES=all)
collectives have a few types and sizes only, and some of the failures one transport. Without mpirun nothing is tested. The last line is `N passed, N failed`.
"""
import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import collectives  # noqa: E402
import mpi_programs  # noqa: E402
import programs  # noqa: E402

UNOPTIMISED = ("--cxxflags=-O0",)  # compiling takes longer than running
LIMIT = 60  # seconds, after which a run counts as hanging


def transports():
    """Name and environment. What serves windows over TCP is a component of Open MPI 4 that later versions do without."""
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout
    tcp = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,tcp"}
    if "(Open MPI) 4." in version:
        tcp["OMPI_MCA_osc"] = "pt2pt"
    return {"shm": {}, "tcp": tcp}


class Mpi:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.passed = self.failed = 0
        self.built = set()
        self.transports = transports()
        self.corpus = pathlib.Path(os.environ.get("PLDC_CORPUS") or programs.default_corpus())

    def check(self, good, what, text=""):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(f"FAIL {what}\n{text[-3000:]}", flush=True)
        return good

    def build(self, name, text, target="mpi", *more):
        path, tree = self.work / f"{name}.pld", self.work / f"{name}.{target}"
        if (name, target) in self.built:
            return tree / "bin" / name
        self.built.add((name, target))
        path.write_text(text)
        more = more or UNOPTIMISED if target == "mpi" else ()
        made = subprocess.run([self.options.pldc, "build", f"--target={target}", path, "-o", tree, "-j2", *more],
                              capture_output=True, text=True)
        self.check(made.returncode == 0, f"{name}: build", made.stderr)
        return tree / "bin" / name

    def command(self, ranks, *words):
        return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), *map(str, words)]

    def run(self, ranks, *words, transport="shm"):
        environment = dict(os.environ, **self.transports[transport])
        try:
            return subprocess.run(self.command(ranks, *words), capture_output=True, text=True, timeout=LIMIT, env=environment)
        except subprocess.TimeoutExpired as e:
            return subprocess.CompletedProcess(e.args, -1, "", f"hangs\n{e.stderr}")

    def source(self, name):
        return (self.corpus / name / "source.pld").read_text()

    # ---- results

    def values(self, title, binary, ranks, given, wanted, more):
        """Over every transport; the arrays are those of numpy."""
        files = []
        for name, array in given.items():
            np.save(self.work / f"{name}.npy", array)
            files += ["--in", f"{name}={self.work / name}.npy"]
        for name in wanted:
            files += ["--out", f"{name}={self.work}/out_{name}.npy"]
        for transport in self.transports:
            ran = self.run(ranks, binary, *files, *more, transport=transport)
            good = ran.returncode == 0
            for name, value in wanted.items() if good else ():
                got = np.load(self.work / f"out_{name}.npy")
                good = good and got.shape == value.shape and np.array_equal(got, value)
            self.check(good, f"{title} on {ranks} ranks, {transport}", ran.stderr)

    def programs(self):
        for program in programs.PROGRAMS:
            ranks = [n for n in ((2, 3, 4) if self.options.full else (2, 4)) if n in program.ranks]
            title = f"{program.name}{' ' + program.entry if program.entry else ''}"
            if not ranks or self.options.k not in title or not (self.corpus / program.name).is_dir():
                continue
            binary = self.build(program.name, self.source(program.name))
            for n in ranks:
                given = program.inputs(n)
                more = [f"--check={program.checks}"] + [f"--scalar={k}={v}" for k, v in program.scalars.items()]
                more += [f"--entry={program.entry}"] if program.entry else []
                self.values(title, binary, n, given, program.expected(n, given), more)

    def collectives(self):
        full = self.options.full
        for name, parts in (("kernels", collectives.kernel_parts(full)),
                            ("hosts", [collectives.points(), collectives.domains(), *collectives.host_parts(full)])):
            parts = [(text, case) for text, case in parts if self.options.k in case.entry]
            dtypes = {d for d in collectives.DTYPES if any(f"self.put_{d}(" in text for text, _ in parts)}
            text = collectives.HEAD + "".join(collectives.staging(d) for d in sorted(dtypes)) + "".join(t for t, _ in parts)
            if parts:
                binary = self.build(name, text, "mpi", "--cxxflags=-O1" if full else UNOPTIMISED[0])
            for _, case in parts:
                for n in (2, 4):
                    if n in case.ranks:
                        given, wanted = case.arrays(n)
                        self.values(case.entry, binary, n, given, wanted, [f"--entry={case.entry}", "--check=signals", "--repeat=2"])

    def as_sim(self, name, text, outputs, ranks, *more, transports=None):
        """The same bits as with ranks as threads."""
        sim, mpi = self.build(name, text, "sim"), self.build(name, text)
        for n in ranks:
            files = {y: f"{self.work}/{name}.{y}.npy" for y in outputs}
            ran = subprocess.run([sim, "--random", f"--ranks={n}", *more, *[f"--out={y}={f}" for y, f in files.items()]],
                                 capture_output=True, text=True)
            self.check(ran.returncode == 0, f"{name} on {n} threads", ran.stderr)
            for transport in transports or self.transports:
                ran = self.run(n, mpi, "--random", "--rtol=0", "--atol=0", *more, *[f"--expect={y}={f}" for y, f in files.items()],
                               transport=transport)
                self.check(ran.returncode == 0, f"{name} on {n} ranks, {transport}", ran.stderr)

    def memory(self):
        if self.options.k not in "memory":
            return
        text = mpi_programs.HOST_MEMORY
        self.as_sim("host_memory", text, ("y", "z"), (4,), "--entry=shared")
        self.as_sim("host_memory", text, ("u",), (3,), "--entry=own", transports=["shm"])
        line = 1 + [n for n, part in enumerate(text.split("\n")) if "self.add(t[0]" in part][0]
        binary = self.build("host_memory", text)
        self.says("read of another rank's result", self.run(4, binary, "--random", "--entry=unknown"), 1,
                  *[f"error: rank {r}: " for r in range(4)],
                  f"host_memory.pld:{line}: this dispatch reads what the one of rank 0 in line {line - 4} has written to y")
        for name, what in (("one_place", "write different values to one place of"), ("added", "write, with atomic adds,")):
            self.says(name, self.run(4, binary, "--random", f"--entry={name}"), 1,
                      *[f"error: rank {r}: " for r in range(4)], f"the dispatches of several ranks {what} z")
        x, u = programs.numbers([4, 1, 32], np.float32, 1), programs.numbers([3, 4, 32], np.float32, 2)
        np.save(self.work / "x.npy", x)
        for r in range(4):
            np.save(self.work / f"u{r}.npy", u[:, r])
        np.save(self.work / "u.npy", u)
        for given, out in (("u{rank}.npy", "v{rank}.npy"), ("u{rank}.npy", "v.npy"), ("u.npy", "w{rank}.npy")):
            ran = self.run(4, binary, "--entry=own", f"--in=x={self.work}/x.npy", f"--in=u={self.work}/{given}",
                           f"--out=u={self.work}/{out}")
            names = [out.replace("{rank}", str(r)) for r in range(4 if "{" in out else 1)]
            good = ran.returncode == 0 and np.array_equal(
                np.concatenate([np.load(self.work / name) for name in names], 1), u + x[:, 0])
            self.check(good, f"{given} to {out}", ran.stderr)
        full = self.options.full
        self.as_sim("adds", mpi_programs.ADDS, ("y", "z", "j", "t"), (2, 3, 4) if full else (3,),
                    transports=None if full else ["shm"])

    # ---- what goes wrong

    def says(self, what, ran, code, *texts):
        missing = [t for t in texts if t not in ran.stderr]
        self.check((ran.returncode == code if code is not None else ran.returncode != 0) and not missing,
                   f"{what}: code {ran.returncode}, missing {missing}", ran.stderr)

    def failures(self):
        if self.options.k not in "failures":
            return
        good = self.build("mesh_by_hand", self.source("mesh_by_hand"))
        text = self.source("mesh_by_hand").replace("if peer != me:", "if peer != me and (me != 1 or peer != 0):", 1)
        missing = self.build("missing", text)
        for n, transport in [(n, t) for n in (2, 4) for t in self.transports] if self.options.full else ((2, "shm"), (4, "tcp")):
            others = [str(r) for r in range(1, n)]
            start = time.monotonic()
            self.says(f"a missing notify, {n} ranks, {transport}", self.run(n, missing, "--random", transport=transport), 4,
                      "error: rank 0: deadlock: no rank can move", "comm_d0.sig_buf[1]", f"any other rank of comm_d0: {' '.join(others)}",
                      f"ranks that have finished their work: {', '.join(others)}",
                      *[f"error: rank {r}: rank 0 has ended the run: deadlock" for r in others])
            self.check(time.monotonic() - start < 20, "the deadlock is seen early")
        for n, transport in [(n, t) for n in (2, 4) for t in self.transports] if self.options.full else ((4, "shm"),):
            self.killed(good, n, transport)
        self.dereferenced(good)
        self.says("other options", self.run(1, good, "--random", ":", "-n", "1", good, "--random=2"), 1,
                  "error: rank 1 was started with other options than rank 0")
        self.says("another program", self.run(1, good, "--random", ":", "-n", "1", missing, "--random"), 1,
                  "error: rank 1 runs another program or version than rank 0")
        self.says("--ranks", self.run(2, good, "--random", "--ranks=3"), 1, "--ranks 3, but mpirun started 2 processes")
        self.says("races", self.run(2, good, "--random", "--check=races"), 2, "use --target=sim")
        self.says("seeded", self.run(2, good, "--random", "--schedule=seeded"), 2, "use --target=sim")
        self.says("a missing file", self.run(2, good, "--in=xs=no-such-file.npy"), 1, "no-such-file.npy: cannot be read")
        self.says("a missing rank", self.run(1, self.build("host_memory", mpi_programs.HOST_MEMORY), "--random", "--entry=unknown"), 1,
                  "unknown dispatches to device 1", "start it with mpirun -n 2")
        if self.options.full and (self.corpus / "host_subset_pair").is_dir():
            pair = self.build("host_subset_pair", self.source("host_subset_pair"))
            self.says("a missing device", self.run(2, pair, "--random"), 1, "start it with mpirun -n 4")

    def killed(self, binary, ranks, transport):
        """A rank dies in mid-run: the others say so, and mpirun fails."""
        child = subprocess.Popen(self.command(ranks, binary, "--random", "--repeat=10000000"), stderr=subprocess.PIPE, text=True,
                                 env=dict(os.environ, **self.transports[transport]))
        victim, until = None, time.monotonic() + 20
        while victim is None and time.monotonic() < until:
            time.sleep(0.1)
            for process in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    environment = (process / "environ").read_bytes().split(b"\0")
                    parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
                except (OSError, IndexError):
                    continue
                if parent == child.pid and b"OMPI_COMM_WORLD_RANK=1" in environment:
                    victim = int(process.name)
        time.sleep(0.7)  # it runs by then
        if victim is not None:
            os.kill(victim, signal.SIGKILL)
        try:
            error = child.communicate(timeout=LIMIT)[1]
        except subprocess.TimeoutExpired:
            child.terminate()
            error = "hangs\n" + child.communicate()[1]
        survivors = [f"error: rank {r}: the run was ended from outside" for r in range(ranks) if r != 1]
        self.check(child.returncode != 0 and victim is not None and all(s in error for s in survivors),
                   f"a killed rank of {ranks}, {transport}", error)

    def dereferenced(self, binary):
        """A kernel, changed by hand, that uses the address of a peer's window as memory."""
        tree = self.work / "dereferenced"
        shutil.copytree(binary.parent.parent, tree, dirs_exist_ok=True)
        kernel = next((tree / "kernels").glob("*/*.cpp"))
        kernel.write_text(kernel.read_text().replace("TLOAD(other, win_2);", "TLOAD(other, win_2); x[0] = *pld_peer(win_ctx, win, peer);"))
        made = subprocess.run(["make", "-C", tree, f"bin/{binary.name}", "ARCH="], capture_output=True, text=True)
        self.check(made.returncode == 0, "dereferenced: make", made.stderr)
        self.says("a peer's address used as memory", self.run(2, tree / "bin" / binary.name, "--random"), None,
                  "memory of another rank is used as if it were this process's own, in kernel reduce_rank, mesh_by_hand.pld:27")

    # ---- data

    def files(self):
        if self.options.k not in "files":
            return
        binary = self.build("mesh_by_hand", self.source("mesh_by_hand"))
        xs = programs.numbers([3, 1, 256], np.float32, 7)
        for r in range(3):
            np.save(self.work / f"xs{r}.npy", xs[r:r + 1] if r != 1 else xs[r])  # the axis of the rank may be missing
        ran = self.run(3, binary, f"--in=xs={self.work}/xs{{rank}}.npy", f"--out=ys={self.work}/ys{{rank}}.npy")
        good = ran.returncode == 0 and all(
            np.array_equal(np.load(self.work / f"ys{r}.npy"), xs.sum(0)[None]) for r in range(3))
        self.check(good, "a file for each rank", ran.stderr)
        # Rank 0 reads for all: nobody else has the file.
        here = self.work / "rank0"
        here.mkdir(exist_ok=True)
        np.save(here / "all.npy", xs)
        words = [binary, "--in=xs=all.npy", "--out=ys=sum.npy"]
        ran = self.run(1, "-wdir", here, *words, ":", "-n", "2", "-wdir", self.work, *words)
        good = ran.returncode == 0 and np.array_equal(np.load(here / "sum.npy"), np.tile(xs.sum(0), (3, 1, 1)))
        self.check(good and not (self.work / "sum.npy").exists(), "a file that only rank 0 has", ran.stderr)
        ran = self.run(3, binary, f"--in=xs={here}/all.npy", f"--expect=ys={self.work}/no-such-{{rank}}.npy")
        self.says("files that are missing", ran, 1, *[f"error: rank {r}: " for r in range(3)], "no-such-2.npy: cannot be read")
        np.save(self.work / "ys1.npy", xs.sum(0)[None] + 1)
        ran = self.run(3, binary, f"--in=xs={self.work}/xs{{rank}}.npy", f"--expect=ys={self.work}/ys{{rank}}.npy")
        self.says("one rank's result differs", ran, 4, "ys1.npy in 256 of 256 elements")
        np.save(self.work / "xs2.npy", xs)
        ran = self.run(3, binary, f"--in=xs={self.work}/xs{{rank}}.npy")
        self.says("a part of another shape", ran, 1, "xs2.npy does not have the part of one rank")

    def driver(self):
        if self.options.k not in "driver":
            return
        path = self.work / "driver.pld"
        path.write_text(self.source("mesh_by_hand"))
        outs = {}
        for target in ("sim", "mpi"):
            outs[target] = subprocess.run([self.options.pldc, "run", f"--target={target}", path, "--ranks=2", "--random",
                                           "--out=ys=-", *(UNOPTIMISED if target == "mpi" else ())],
                                          capture_output=True, text=True)
        self.check(outs["mpi"].returncode == 0 and outs["mpi"].stdout == outs["sim"].stdout, "pldc run --target=mpi",
                   outs["mpi"].stderr)
        without = subprocess.run([self.options.pldc, "build", "--target=mpi", path, "-o", self.work / "without"],
                                 capture_output=True, text=True, env=dict(os.environ, MPICXX="no-such-mpicxx"))
        self.says("no compiler of MPI", without, 1, "'no-such-mpicxx' cannot be started", "libopenmpi-dev and openmpi-bin")
        self.check(not (self.work / "without").exists(), "nothing is written without a compiler")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pldc", type=pathlib.Path, required=True)
    parser.add_argument("--full", action="store_true", default=os.environ.get("PLDC_TEST_STAGES") == "all")
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("-k", default="", metavar="TEXT", help="only tests with this in their name")
    options = parser.parse_args()
    options.pldc = options.pldc.resolve()
    if not shutil.which("mpirun") or not shutil.which("mpicxx"):
        print("skipped: there is no mpirun or mpicxx (Debian: openmpi-bin, libopenmpi-dev)\n0 passed, 0 failed")
        return 0
    with tempfile.TemporaryDirectory() as name:
        work = (options.work or pathlib.Path(name)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        mpi = Mpi(options, work)
        for part in (mpi.programs, mpi.collectives, mpi.memory, mpi.failures, mpi.files, mpi.driver):
            part()
    print(f"{mpi.passed} passed, {mpi.failed} failed")
    return 1 if mpi.failed else 0


if __name__ == "__main__":
    sys.exit(main())
