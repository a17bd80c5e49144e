"""Builds random programs: all kernels in one C++ file, all orchestrations in another, and the runtime's objects once for all
programs of all runs."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

from random_table import ROOT

UNITY = 100  # kernels in one C++ file: they share what they make of the runtime's templates
RUNTIME = ("runtime.o", "watch.o", "launcher.o")


class Failure(Exception):
    pass


def compilers():
    """Those of this machine, the faster one for such code first."""
    found = [name for name in (shutil.which("clang++-14") or shutil.which("clang++"), shutil.which("g++")) if name]
    return found or ["c++"]


def run_batches(tester):
    """Batch after batch, or until too many have failed; how many programs that was."""
    options = tester.options
    done, seed = 0, options.seed
    while done < options.programs and tester.failed < options.failures:
        size = min(options.batch, options.programs - done)
        tester.batch(seed, size)
        done, seed = done + size, seed + 1
    return done


def main_of(tester, parser):
    """A test program of the class `tester`: its exit code."""
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        made = tester(options, options.keep or pathlib.Path(temporary))
        run_batches(made)
    print(f"{made.passed} passed, {made.failed} failed")
    return 1 if made.failed else 0


class Builder:
    """Options are those of add_options; what is built goes under `work`."""

    def __init__(self, options, work):
        self.options, self.work = options, work
        self.compilers = [options.cxx] if options.cxx else compilers()
        self.kept = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or work) / "random"
        self.begin(1)

    @staticmethod
    def add_options(parser, few, many, batch):
        """`few` programs, or `many` with the full suite."""
        full = os.environ.get("PLDC_TEST_STAGES") == "all"
        parser.add_argument("--pldc", default=str(ROOT / "build/src/driver/pldc"))
        parser.add_argument("--programs", type=int, default=many if full else few)
        parser.add_argument("--batch", type=int, default=batch)
        parser.add_argument("--seed", type=int, default=1, help="of the first batch; the next ones count on")
        parser.add_argument("--stops", type=int, default=3 if full else 1, help="passes after which changed programs run again")
        parser.add_argument("--failures", type=int, default=10, help="stop after so many")
        parser.add_argument("--opt", default="-O0", help="how the C++ is compiled")
        parser.add_argument("--cxx", help="one compiler; all that there are take turns")
        parser.add_argument("--jobs", type=int, default=2)
        parser.add_argument("--keep", type=pathlib.Path, help="a folder for what is built, which stays")

    def begin(self, seed):
        """One compiler after the other, batch by batch."""
        self.cxx = self.compilers[(seed - 1) % len(self.compilers)]

    @staticmethod
    def call(command):
        done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise Failure(" ".join(map(str, command)) + "\n" + done.stdout[-3000:])
        return done.stdout

    def emit(self, source, tree, passes=()):
        self.call([self.options.pldc, "build", source, "-o", tree, "--emit-only", *passes])

    def compile(self, source, tree, passes=()):
        """The binary of the program of the text."""
        self.emit(source, tree, passes)
        kernels = sorted((tree / "kernels").glob("*/*.cpp"))
        objects = [f"build/{name}" for name in RUNTIME] + ["build/host/host_orch.o", "build/host/chips.o"]
        (tree / "host/chips.cpp").write_text("".join(
            f"#define aicpu_orchestration_config pldc_{c.stem}_config\n#define aicpu_orchestration_entry pldc_{c.stem}_entry\n"
            f"#include \"../chips/{c.name}\"\n#undef aicpu_orchestration_config\n#undef aicpu_orchestration_entry\n"
            for c in sorted((tree / "chips").glob("*.cpp"))))
        for first in range(0, len(kernels), UNITY):
            name = f"unity{first // UNITY}"
            objects.append(f"build/host/{name}.o")
            (tree / "host" / f"{name}.cpp").write_text("".join(
                f"#define kernel_entry pldk_{k.parent.name}_{k.stem}\n#include \"../{k.relative_to(tree)}\"\n"
                "#undef kernel_entry\n" for k in kernels[first:first + UNITY]))
        prefix = self.borrow_runtime(tree)
        self.call(["make", "-s", f"-j{self.options.jobs}", "-C", tree, f"CXXFLAGS={self.options.opt} -w", f"CXX={self.cxx}",
                   "OBJECTS=" + " ".join(objects), f"bin/{source.stem}"])
        self.keep_runtime(tree, prefix)
        return tree / "bin" / source.stem

    def borrow_runtime(self, tree):
        """Puts the objects there if they have been compiled before; how their names begin where they are kept."""
        key = hashlib.sha256(f"{self.cxx} {self.options.opt}".encode())
        for path in sorted((tree / "include").rglob("*")):
            if path.is_file():
                key.update(path.read_bytes())
        prefix = f"{pathlib.Path(self.cxx).name}{self.options.opt}-{key.hexdigest()[:16]}-"
        (tree / "build").mkdir(exist_ok=True)
        for name in RUNTIME:
            if (self.kept / (prefix + name)).exists() and not (tree / "build" / name).exists():
                shutil.copy(self.kept / (prefix + name), tree / "build" / name)
        return prefix

    def keep_runtime(self, tree, prefix):
        self.kept.mkdir(parents=True, exist_ok=True)
        for name in RUNTIME:
            if not (self.kept / (prefix + name)).exists():
                # Two tests may come here at the same time.
                temporary = self.kept / f"{os.getpid()}-{name}"
                shutil.copy(tree / "build" / name, temporary)
                temporary.replace(self.kept / (prefix + name))
        for old in self.kept.glob(f"{prefix.rsplit('-', 2)[0]}-*-*.o"):
            if not old.name.startswith(prefix):
                old.unlink(missing_ok=True)
