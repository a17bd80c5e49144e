"""Which operations random programs have: those of `pldc list ops`, except those that tests/data/random_left_out.txt names
with a reason. A maker, a function that adds a statement with the operation to a program, stands for each of the others."""
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAKERS = {}  # operation: the functions that make it, by the kind of program
LEFT_OUT = ROOT / "tests/data/random_left_out.txt"


def makes(tile="", tensor="", **other):
    """The function makes statements with these operations: of tile kernels, of tensor kernels, or with full names of other
    kinds of programs (chip, hosts)."""
    def register(function):
        named = {"tile": [f"tile.{op}" for op in tile.split()], "tensor": [f"tensor.{op}" for op in tensor.split()]}
        named.update({program: operations.split() for program, operations in other.items()})
        for program, operations in named.items():
            for op in operations:
                MAKERS.setdefault(op, {}).setdefault(program, []).append(function)
        return function
    return register


class Table:
    def __init__(self, pldc):
        listed = json.loads(subprocess.run([pldc, "list", "ops", "--json"], stdout=subprocess.PIPE, check=True).stdout)
        # As it is called: pl.tile.and_ for tile.and.
        self.spelled = {op["name"]: op["signature"].split("(")[0] for op in listed}

    def left_out(self):
        lines = [line.split(None, 1) for line in LEFT_OUT.read_text().splitlines() if line and line[0] != "#"]
        return {op: why for op, why in lines}

    def problems(self):
        """Operations that are neither made nor left out, or both, or do not exist; reasons that are missing."""
        out, left = [], {}
        for line in LEFT_OUT.read_text().splitlines():
            if line and line[0] != "#":
                op, *why = line.split(None, 1)
                left[op] = why
                if not why:
                    out.append(f"{op} is left out without a reason")
        for op in sorted(set(self.spelled) | set(MAKERS) | set(left)):
            if op not in self.spelled:
                out.append(f"{op} is not an operation of pldc")
            elif op in MAKERS and op in left:
                out.append(f"{op} is made, but {LEFT_OUT.name} leaves it out: {left[op]}")
            elif op not in MAKERS and op not in left:
                out.append(f"{op} is neither made by random programs nor named in {LEFT_OUT.name}")
        return out

    def made(self, program):
        """The operations that such a program may have, in the order of the table."""
        return [op for op in self.spelled if program in MAKERS.get(op, {})]
