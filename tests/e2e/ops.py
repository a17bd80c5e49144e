#!/usr/bin/env python3
"""Every operation in generated code: the examples of tests/data/ops_examples.json and grids of dtypes, valid shapes and
modes against numpy, built into few programs, run, and compared.

    ops.py --pldc=build/src/driver/pldc [--work=DIR] [--stages=source|all] [-k TEXT] [-v]

The last lines are a table of the operations that are covered, and `N passed, N failed`.
"""
import argparse
import json
import os
import pathlib
import re
import sys
import tempfile

import op_batch
import op_examples
import op_grid
import op_grid_more
import op_layouts
import op_programs
import op_ranks
from op_batch import Batch

ROOT = pathlib.Path(__file__).resolve().parents[2]


# Keywords that the front end fills in, so that a call without them is right.
NO_ERRORS = {445: "a cast without a mode rounds to nearest"}


def expect_error(pldc, work, example):
    """A case with an outcome: the example must be refused with these words."""
    case = op_batch.Case(f"example {example.number} {example.op} (error)", example.op, None)
    path = work / "error.pld"
    path.write_text(op_programs.error_text(example))
    done = Batch.call([pldc, str(path)])
    text = done.stdout.lower()
    # The wording is our own: of each phrase one word must be there.
    phrases = [phrase.lower() for phrase in example.e["expected_error"]]
    if done.returncode != 1:
        case.outcome = f"failed: accepted with {done.returncode}: {done.stdout[:300]}"
    elif not all(any(word in text for word in phrase.split()) for phrase in phrases):
        case.outcome = f"failed: {phrases} is not in: {done.stdout[:600]}"
    else:
        case.outcome = "passed"
    return case


def compare_list(pldc, cases):
    """Prints the table of operations and compares those that are refused with tests/data/ops_refused.txt: how many lines
    agree and how many do not."""
    listed = Batch.call([pldc, "list", "ops"]).stdout
    every = [line.split("(")[0].removeprefix("pl.") for line in listed.splitlines() if line and line[0] != " "]
    every = [op.removesuffix("_") for op in every if not op.startswith(("test.", "dist."))]
    shown, refused = set(), {}
    for case in cases:
        for op in (op.removesuffix("_") for op in case.ops):
            if case.outcome == "passed":
                shown.add(op)
            elif case.outcome.startswith("refused"):
                code = re.search(r"PLD\d+", case.outcome)
                refused.setdefault(op, code.group() if code else case.outcome)
    hidden = set()
    if "ConvertTensorToTileOps" not in Batch.call([pldc, "list", "passes"]).stdout:
        # Without that pass there is nothing to say about operations on tensors in kernels.
        hidden = {op for op, code in refused.items() if code == "PLD0932"}
        refused = {op: code for op, code in refused.items() if code != "PLD0932"}
    found = {op: refused.get(op, "no case") for op in every
             if op not in hidden and (op in refused or op not in shown)}
    groups = sorted({op.rsplit(".", 1)[0] for op in every})
    print(f"{'operations':24}{'all':>6}{'whole':>8}{'in part':>9}{'refused':>9}")
    for group in groups:
        ops = [op for op in every if op.rsplit(".", 1)[0] == group]
        part = [op for op in ops if op in shown and op in found]
        none = [op for op in ops if op not in shown]
        print(f"{group:24}{len(ops):6}{len(ops) - len(part) - len(none):8}{len(part):9}{len(none):9}")
    path = ROOT / "tests/data/ops_refused.txt"
    known = dict(line.split("#")[0].split(None, 1) for line in path.read_text().splitlines()
                 if line and not line.startswith("#"))
    known = {op: why.strip() for op, why in known.items() if op not in hidden}
    bad = 0
    for op in sorted(set(known) | set(found)):
        if known.get(op) != found.get(op):
            bad += 1
            print(f"FAIL {op}: {found.get(op, 'works')}, but {path.name} says {known.get(op, 'that it works')}")
        else:
            print(f"  {op:34}{found[op]}")
    if bad:
        print(f"The list as it should be:\n" + "".join(f"{op:36}{why}\n" for op, why in sorted(found.items())))
    return len(every) - bad, bad


def example_cases():
    """The examples that run, and those that must be refused."""
    examples = json.loads((ROOT / "tests/data/ops_examples.json").read_text())
    cases, other = op_examples.cases(examples)
    errors = [example for example in other if "expected_error" in example.e and example.number not in NO_ERRORS]
    cases += [c for c in map(op_programs.case_of, (x for x in other if "expected_error" not in x.e)) if c is not None]
    return cases, errors


def grid_cases(full):
    return op_grid.cases(full) + op_grid_more.cases(full) + op_layouts.cases()


def run_all(batch, cases, grid):
    for place in ("kernel", "cube", "orch", "program", "pipes", "tensor kernel"):
        part = [case for case in cases if case.place == place]
        if part:
            batch.run("examples_" + place.replace(" ", "_"), part)
    for place in ("kernel", "cube", "pipes", "program"):
        part = [case for case in grid if case.place == place]
        for i in range(0, len(part), 160):
            batch.run(f"grid_{place}{i // 160}", part[i:i + 160])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pldc", default=str(ROOT / "build/src/driver/pldc"))
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--stages", choices=["source", "all"], default=os.environ.get("PLDC_TEST_STAGES", "source"))
    parser.add_argument("-k", help="only cases with this text in their names")
    parser.add_argument("-v", action="store_true", help="names the cases that are refused")
    options = parser.parse_args()
    cases, errors = example_cases()
    grid = grid_cases(options.stages == "all")
    if options.k:
        grid = [case for case in grid if options.k in case.name]
        cases = [case for case in cases if options.k in case.name]
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or pathlib.Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        batch = Batch(options.pldc, work)
        run_all(batch, cases, grid)
        if not options.k or "ranks" in options.k:
            cases += op_ranks.cases(options.pldc, work, batch.cxxflags)
        for example in errors:
            if not options.k:
                cases.append(expect_error(options.pldc, work, example))
    passed, failed = 0, 0
    for case in grid:  # what ops.md allows is never refused
        case.outcome = case.outcome.replace("refused:", "failed: refused:")
    for case in cases + grid:
        if case.outcome == "passed":
            passed += 1
        elif case.outcome.startswith("refused"):
            if options.v:
                print(f"{case.name}: {case.outcome}")
        else:
            failed += 1
            print(f"FAIL {case.name}: {case.outcome}")
    if not options.k:
        good, bad = compare_list(options.pldc, cases + grid)
        passed, failed = passed + good, failed + bad
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
