#!/usr/bin/env python3
"""Machine code of kernels: the loops in which a kernel spends its time have packed instructions.

    vectorized.py --pldc=build/src/driver/pldc [--cxx=g++] [-v]

Kernels are compiled with the rule and the flags of the Makefile that `pldc build` writes, by each compiler that there is, and
disassembled: a packed instruction of the right kind must stand in a loop of the kernel or of what it calls. That the search
tells loops apart is tried with three small functions first. Sums of rows of floats are not among the kernels: they go from left to
right, eight rows at a time, which keeps both adders of a core busy with scalars; turning rows into columns for packed
additions would cost as much. The last line is `N passed, N failed`.
"""
import argparse
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS, COLS = 32, 128  # of tiles
SIZE = 64  # of the factors of products

# Name: dtypes of the operands and the result, statements that make `r` of the tiles a and b, one of the instructions.
TILE = {
    "add": ("FP32", "FP32", ["r = pl.tile.add(a, b)"], r"v?addps"),
    "muls": ("FP32", "FP32", ["r = pl.tile.muls(a, 1.5)"], r"v?mulps"),
    "div": ("FP32", "FP32", ["r = pl.tile.div(a, b)"], r"v?divps"),
    "maximum": ("FP32", "FP32", ["r = pl.tile.maximum(a, b)"], r"v?(max|cmp\w*|blendv?m?)ps"),
    "sqrt": ("FP32", "FP32", ["r = pl.tile.sqrt(a)"], r"v?sqrtps"),
    "exp": ("FP32", "FP32", ["r = pl.tile.exp(a)"], r"v?(mul|fmadd\d+)p[sd]"),
    "relu": ("FP32", "FP32", ["r = pl.tile.relu(a)"], r"v?(max|cmp\w*|and|blendm)ps"),
    "chain": ("FP32", "FP32", ["c = pl.tile.sub(a, b)", "r = pl.tile.mul(c, c)"], r"v?subps"),
    "add_int": ("INT32", "INT32", ["r = pl.tile.add(a, b)"], r"v?paddd"),
    "mul_short": ("INT16", "INT16", ["r = pl.tile.mul(a, b)"], r"v?pmullw"),
    "and_byte": ("UINT8", "UINT8", ["r = pl.tile.and_(a, b)"], r"v?(pand[dq]?|andps)"),
    "add_half": ("FP16", "FP16", ["r = pl.tile.add(a, b)"], r"v?(addph|addps|paddd)"),
    "to_half": ("FP32", "FP16", ["r = pl.tile.cast(a, target_type=pl.FP16, mode='rint')"],
                r"v?(cvtps2phx?|packusdw|pmovdw|pmovusdw|paddd)"),
    "to_int": ("FP32", "INT32", ["r = pl.tile.cast(a, target_type=pl.INT32, mode='floor')"],
               r"v?(round|rndscale|cvttps2|cvtps2|reduce)\w*"),
    "row_max": ("FP32", "FP32", [f"w = pl.tile.create([{ROWS}, {COLS}], dtype=pl.FP32)", "r = pl.tile.row_max(a, w)"],
                r"v?(max|cmp\w*|blendv?m?)ps"),
    "row_sum_int": ("INT32", "INT32", [f"w = pl.tile.create([{ROWS}, {COLS}], dtype=pl.INT32)", "r = pl.tile.row_sum(a, w)"],
                    r"v?paddd"),
    "col_sum": ("FP32", "FP32", ["r = pl.tile.col_sum(a)"], r"v?addps"),
    "expand": ("FP32", "FP32", [f"w = pl.tile.create([{ROWS}, {COLS}], dtype=pl.FP32)", "s = pl.tile.row_max(a, w)",
                                "r = pl.tile.row_expand_sub(b, s)"], r"v?subps"),
}
# Name: dtype, instructions. Products of matrices, 64 x 64 x 64.
PRODUCT = {"product": ("FP32", r"v?(mul|fn?madd\d+)ps"), "product_half": ("FP16", r"v?(mul|fn?madd\d+)p[sh]"),
           "product_byte": ("INT8", r"v?(pmulld|pmaddwd|pmullw|pdpwssd|pdpbusd)")}


def program():
    text = ["import pypto.language as pl\n\n\n@pl.program\nclass Loops:\n"]
    calls = []

    def kernel(name, inputs, given, result, shape, body):
        ins = ", ".join(f"{n}: pl.Tensor[{given}, pl.{kind}]" for n, kind in inputs)
        out = f"pl.Tensor[{shape}, pl.{result}]"
        text.append(f"    @pl.function(type=pl.FunctionType.InCore)\n    def {name}(self, {ins}, y: pl.Out[{out}]) -> {out}:\n")
        text.extend(f"        {line}\n" for line in body + ["return pl.store(r, [0, 0], y)\n"])
        calls.append((name, inputs, result, shape, given))

    for name, (kind, result, lines, _) in TILE.items():
        shape = [1 if name == "col_sum" else ROWS, 1 if name.startswith("row_") else COLS]
        kernel(name, [("x", kind), ("z", kind)], [ROWS, COLS], result, shape,
               [f"{t} = pl.load({n}, [0, 0], [{ROWS}, {COLS}])" for t, n in (("a", "x"), ("b", "z"))] + lines)
    for name, (kind, _) in PRODUCT.items():
        body = []
        for t, n, space in (("a", "x", "Left"), ("b", "z", "Right")):
            body += [f"{t}l = pl.load({n}, [0, 0], [{SIZE}, {SIZE}], target_memory=pl.Mem.Mat)",
                     f"{t} = pl.tile.move({t}l, target_memory=pl.Mem.{space})"]
        kernel(name, [("x", kind), ("z", kind)], [SIZE, SIZE], "INT32" if kind == "INT8" else "FP32", [SIZE, SIZE],
               body + ["r = pl.tile.matmul(a, b)"])
    ins = ", ".join(f"{n}_{c[0]}: pl.Tensor[{c[4]}, pl.{k}]" for c in calls for n, k in c[1])
    outs = ", ".join(f"y_{c[0]}: pl.Out[pl.Tensor[{c[3]}, pl.{c[2]}]]" for c in calls)
    text.append(f"    @pl.function(type=pl.FunctionType.Orchestration)\n    def all(self, {ins}, {outs}):\n")
    text += [f"        y_{c[0]} = self.{c[0]}({', '.join(f'{n}_{c[0]}' for n, _ in c[1])}, y_{c[0]})\n" for c in calls]
    return "".join(text)


class Listing:
    """The instructions of an object file by function, and what each calls."""

    def __init__(self, path):
        text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", path], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.functions, self.called, now, called = {}, {}, None, None
        for line in text.splitlines():
            if head := re.match(r"[0-9a-f]+ <(.*)>:$", line):
                now, called = self.functions.setdefault(head.group(1), []), self.called.setdefault(head.group(1), set())
            elif place := re.match(r"\s*[0-9a-f]+: R_X86_64_(?:PLT|PC)32\s+(\w+)-0x", line):
                called.add(place.group(1))  # of another section
            elif (row := re.match(r"\s*([0-9a-f]+):\s+(?:\{\w+\} )?(?:notrack |bnd |rep |lock )*(\S+)\s*(.*)$", line)) and now is not None:
                now.append((int(row.group(1), 16), row.group(2), row.group(3)))

    def reached(self, name):
        """The function and what it calls."""
        found, left = set(), [name]
        while left:
            function = left.pop()
            if function in found or function not in self.functions:
                continue
            found.add(function)
            left += self.called[function]
            left += [target for _, op, rest in self.functions[function] if op.startswith(("call", "jmp"))
                     for target in re.findall(r"<([^>+]+)(?:\+0x[0-9a-f]+)?>", rest)]
        return found

    def looped(self, name):
        """The mnemonics of the loops of the function and of what it calls: between a jump back and where it goes to."""
        out = set()
        for function in self.reached(f"kernel_{name}"):
            rows = self.functions[function]
            loops = []
            for at, op, rest in rows:
                if op.startswith("j") and (target := re.match(r"([0-9a-f]+) <", rest)) and rows[0][0] <= int(target.group(1), 16) <= at:
                    loops.append((int(target.group(1), 16), at))
            out |= {op for at, op, _ in rows if any(first <= at <= last for first, last in loops)}
        return out


def compilers(chosen):
    if chosen:
        return [chosen]
    found = [shutil.which("g++"), shutil.which("clang++-14") or shutil.which("clang++")]
    return [name for name in found if name] or ["c++"]


def packed(listing, name, pattern):
    return any(re.fullmatch(pattern, op) for op in listing.looped(name))


def tried(folder, compiler):
    """That a loop of scalars and a packed instruction outside of loops are told from a packed loop."""
    source = folder / "loops.cpp"
    source.write_text("typedef float f4 __attribute__((vector_size(16)));\n"
                      "extern \"C\" void kernel_packed(f4* a, f4* b, long n) { for (long i = 0; i < n; ++i) a[i] += b[i]; }\n"
                      "extern \"C\" void kernel_once(f4* a, f4* b) { a[0] += b[0]; }\n"
                      "extern \"C\" void kernel_scalars(float* a, float* b, long n) { for (long i = 0; i < n; ++i) a[i] += b[i]; }\n")
    subprocess.run([compiler, "-O1", "-c", source, "-o", folder / "loops.o"], check=True)
    listing = Listing(folder / "loops.o")
    return [f"{compiler}: the search finds {name} {'not ' if wanted else ''}to be packed"
            for name, wanted in (("packed", True), ("once", False), ("scalars", False)) if packed(listing, name, r"v?addps") != wanted]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pldc", default=str(ROOT / "build/src/driver/pldc"))
    parser.add_argument("--cxx", help="one compiler; all that there are otherwise")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for what is built, which stays")
    parser.add_argument("-v", action="store_true", help="lists the instructions that the loops have")
    options = parser.parse_args()
    if platform.machine() != "x86_64" or not shutil.which("objdump"):
        print("neither the instructions of this machine nor objdump are known here\n0 passed, 0 failed")
        return 0
    kernels = {name: row[3] for name, row in TILE.items()} | {name: row[1] for name, row in PRODUCT.items()}
    passed = failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "loops.pld").write_text(program())
        tree = folder / "tree"
        subprocess.run([options.pldc, "build", "--emit-only", folder / "loops.pld", "-o", tree], check=True)
        # One file: each kernel alone would read the runtime's headers again.
        (tree / "kernels/all/unity.cpp").write_text("#undef kernel_entry\n" + "".join(
            f"#define kernel_entry kernel_{name}\n#include \"{name}.cpp\"\n#undef kernel_entry\n" for name in kernels))
        for compiler in compilers(options.cxx):
            objects = tree / "build/kernels/all/unity.o"
            objects.unlink(missing_ok=True)
            problems = tried(folder, compiler)
            subprocess.run(["make", "-s", "-C", tree, f"CXX={compiler}", "build/kernels/all/unity.o"], check=True)
            listing = Listing(objects)
            problems += [f"{compiler}: {name} has no instruction {pattern} in a loop, but {sorted(listing.looped(name))}"
                         for name, pattern in kernels.items() if not packed(listing, name, pattern)]
            if options.v:
                for name, pattern in kernels.items():
                    print(f"{compiler} {name}: {[op for op in sorted(listing.looped(name)) if re.fullmatch(pattern, op)]}")
            for problem in problems:
                print(f"FAIL {problem}")
            passed, failed = passed + len(kernels) + 3 - len(problems), failed + len(problems)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
