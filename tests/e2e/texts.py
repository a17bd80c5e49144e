#!/usr/bin/env python3
"""Runs every text of the reference corpus: each program's source and what PyPTO printed after each of its passes have to
compute the same outputs, bit by bit, from the same inputs.

    texts.py --pldc=build/src/driver/pldc [--corpus=DIR] [--work=DIR] [--stages=source|all] [-k GLOB]

What is generated from a text is compared up to names first: the texts of a program whose C++ is the same run once. All
that is left is compiled into one program (a few translation units) that runs each text in a process of its own.

Where several functions are called by nobody, each is an entry and compared with its own texts.

Texts that do not run stand in texts_not_run.txt with the reason; one that runs all the same has to be taken off.
`--stages=all` (or PLDC_TEST_STAGES=all) takes the whole corpus, otherwise the part of it in tests/data.
The last line is `N passed, N failed`, counted in texts.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

from programs import ROOT, default_corpus
from texts_units import Units

NOT_RUN = pathlib.Path(__file__).with_name("texts_not_run.txt")

# Scalars that make a program do more than the fill of --random (at least 1) does, or stay inside of its tiles.
SCALARS = {
    "tile_canonicalize_tile_slice_col_expand": {"n": 1},
    "tile_canonicalize_tile_slice_matmul": {"n": 1},
    "pass_cluster_spmd_in_cluster": {"n": 2},
    "tile_convert_tensor_to_tile_ops_slice": {"n": 2},
    "tile_flatten_tile_nd_to_2d_elementwise": {"n": 1},
    "tile_flatten_tile_nd_to_2d_valid": {"n": 2},
}

# Inputs that are indices, with the number of rows or columns that they choose among.
INDICES = {"tile_convert_tensor_to_tile_ops_gather_axes": {"i0": 4, "i1": 3}}

# What may change rounding, and how far.
ROUNDING = ("LegalizeTileCast", "AutoTileMatmulL0")
SINES = ("fmt_tile_unary", "pass_composite_sin_cos")  # LowerCompositeOps writes them as polynomials
TOLERANCE = ["--rtol", "0.01", "--atol", "0.01"]


class Text:
    """One text, what was generated from it or why nothing was, and how its runs ended."""

    def __init__(self, path, order, tolerant, as_it_stands):
        self.path, self.order, self.tolerant, self.as_it_stands = path, order, tolerant, as_it_stands
        self.name = f"{path.parent.name}/{path.name}"
        if path.parent.parent.name == "dump":
            self.name = "dump/" + self.name
        self.code = self.message = None  # why it does not run
        self.parts = []                  # the key of each generated program, and its entries
        self.failures = []
        self.endless = False  # the list says so: it is not given much time


def number_of(path):
    head = path.name[:2]
    return int(head) if head.isdigit() else -1


class Corpus:
    """The texts of each program in the order of the passes; those of the `dump` dialect come last."""

    def __init__(self, folder):
        self.folder = folder
        defects = folder / "defects.json"
        self.defects = json.loads(defects.read_text()) if defects.is_file() else {}

    def programs(self):
        for folder in sorted(self.folder.iterdir()):
            if (folder / "index.json").is_file() and not folder.name.endswith("_rejected"):
                yield folder.name, list(self.texts(folder))

    def texts(self, folder):
        passes = json.loads((folder / "index.json").read_text())
        first_defect = min((number for number, name in self.numbered(passes) if name in self.defects.get(folder.name, {})),
                           default=1000)
        refused = any(entry.get("error") for entry in passes[:5])  # no SSA form: the reference has none either
        rounding = min((number for number, name, changed in self.changed(passes) if name in ROUNDING and changed),
                       default=1000)
        paths = [folder / "source.pld"] + sorted(p for p in folder.glob("[0-9]*.pld") if ".from_text" not in p.name)
        paths += sorted((self.folder / "dump" / folder.name).glob("[0-9]*.pld"))
        for order, path in enumerate(paths):
            number = number_of(path)
            # The source goes through our passes, which change the rounding too.
            if path.is_file() and number < first_defect:
                tolerant = number >= rounding or (number < 0 and rounding < 1000) or folder.name in SINES
                yield Text(path, order, tolerant, number >= 0 or refused)

    @staticmethod
    def numbered(passes):
        return [(number, name) for number, name, _ in Corpus.changed(passes)]

    @staticmethod
    def changed(passes):
        for number, entry in enumerate(passes):
            yield number, entry["pass"], entry.get("file") is not None


class NotRun:
    """Lines `PROGRAM NUMBERS CODE REASON`: NUMBERS is `all`, or numbers of passes as in `source..11,14`; CODE is a diagnostic,
    `compile`, `run`, `endless` or `race`. PROGRAM `*` stands for every program that ends with that diagnostic."""

    def __init__(self, path):
        self.rows = []
        for at, line in enumerate(path.read_text().splitlines(), 1):
            words = line.split(None, 3)
            if words and not words[0].startswith("#"):
                if len(words) < 4:
                    sys.exit(f"{path.name}:{at}: a line is PROGRAM NUMBERS CODE REASON")
                self.rows.append((at, *words))
        self.used = set()

    @staticmethod
    def covers(numbers, number):
        if numbers == "all":
            return True
        for part in numbers.split(","):
            low, _, high = part.partition("..")
            low = -1 if low == "source" else int(low)
            if low <= number <= (int(high) if high else low):
                return True
        return False

    def is_endless(self, text):
        return any(row[1] == text.path.parent.name and row[3] == "endless" and self.covers(row[2], number_of(text.path))
                   for row in self.rows)

    def row(self, text, code):
        """The row of the text's program; one for all programs only excuses what ends as it says."""
        for row in self.rows:
            if row[1] == text.path.parent.name and self.covers(row[2], number_of(text.path)):
                return row
        return next((row for row in self.rows if row[1] == "*" and row[3] == code), None)


SEVERAL = "PLD0709"  # several functions that nobody calls; each is an entry
ALONE = "PLD0710"    # a kernel with windows or pipes, and nobody who calls it


class Refused(Exception):
    def __init__(self, code, message, candidates=()):
        super().__init__(message)
        self.code, self.candidates = code, candidates


def build(pldc, text, folder, entry=None):
    """The C++ of a text; a text after a pass is taken as it stands, the source as a user would."""
    tree = folder / hashlib.sha256(f"{text.path}:{entry}".encode()).hexdigest()[:16]
    command = [pldc, "build", str(text.path), "--emit-only", "-o", str(tree), "--diag-format=json", "--max-errors=1"]
    command += [f"--entry={entry}"] if entry else []
    command += ["--passes=NONE"] if text.as_it_stands else []
    made = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if made.returncode != 0:
        for line in made.stderr.splitlines():
            if line.startswith("{") and json.loads(line)["severity"] == "error":
                first = json.loads(line)
                names = " ".join(first["help"]).partition("--entry: ")[2]
                raise Refused(first["code"], f"{first.get('line', 0)}:{first.get('column', 0)}: {first['message']}",
                              names.split(", ") if names else ())
        raise Refused(f"exit{made.returncode}", made.stderr[-300:])
    manifest = json.loads((tree / "manifest.json").read_text())
    files = {str(p.relative_to(tree)): p.read_text() for kind in ("host", "chips", "kernels")
             for p in sorted((tree / kind).rglob("*.cpp"))}
    shutil.rmtree(tree)
    return files, manifest["entries"]


def generate(pldc, text, folder):
    """What can be built of a text: one program, or one for each function that nobody calls."""
    try:
        return [build(pldc, text, folder)]
    except Refused as why:
        text.code, text.message, candidates = why.code, str(why), why.candidates
    if text.code != SEVERAL:
        return []
    programs, refusals = [], []
    for entry in candidates:
        try:
            programs.append(build(pldc, text, folder, entry))
        except Refused as why:
            refusals.append((why.code, f"{entry}: {why}"))
    excused = [refusal for refusal in refusals if refusal[0] == ALONE]
    worse = [refusal for refusal in refusals if refusal[0] != ALONE]
    text.code, text.message = (worse or ([] if programs else excused) or [(None, None)])[0]
    return programs


def rank_counts(entry):
    """No --ranks where the program says how many, else two counts."""
    if entry["single_rank"] or entry["max_device"] is not None:
        return [None]
    if any(limit.get("exact", True) for limit in entry["rank_limits"]):
        return [None]
    for parameter in entry["parameters"]:
        if any(isinstance(parameter["shape"][axis], int) for axis in parameter.get("rank_axes", [])):
            return [None]
    return [2, 4]


class Run:
    """A generated program on one entry and rank count, with the texts that it stands for."""

    def __init__(self, program, key, entry, ranks, tolerant):
        self.program, self.key, self.entry, self.ranks, self.tolerant = program, key, entry, ranks, tolerant
        self.outputs = [p["name"] for p in entry["parameters"] if p["kind"] != "scalar" and p["direction"] != "in"]
        self.texts = []
        self.fresh = []  # outputs whose reference this run gave

    def arguments(self, work):
        timeout = 2 if self.texts[0].endless else 60
        words = ["--random=1", "--check=bounds", f"--timeout={timeout}", f"--entry={self.entry['name']}"]
        if self.ranks:
            words.append(f"--ranks={self.ranks}")
        scalars, indices = SCALARS.get(self.program, {}), INDICES.get(self.program, {})
        for parameter in self.entry["parameters"]:
            if parameter["kind"] == "scalar" and parameter["name"] in scalars:
                words += ["--scalar", f"{parameter['name']}={scalars[parameter['name']]}"]
            if parameter["name"] in indices:
                path = work / f"{self.program}_{parameter['name']}.npy"
                generator = np.random.default_rng(1)
                np.save(path, generator.integers(0, indices[parameter["name"]], parameter["shape"], np.int32))
                words += ["--in", f"{parameter['name']}={path}"]
        return words


class Suite:
    def __init__(self, options):
        self.options = options
        self.jobs = os.cpu_count() or 1
        self.units = Units(ROOT / "src/codegen/runtime/include", options.work, self.jobs)
        self.programs = []
        self.listed = NotRun(NOT_RUN)
        for name, texts in Corpus(options.corpus).programs():
            texts = [t for t in texts if not options.k or fnmatch.fnmatch(t.name, options.k)]
            self.programs.append((name, texts))

    def texts(self):
        return [text for _, texts in self.programs for text in texts]

    def generate_all(self):
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            texts = self.texts()
            made = pool.map(lambda t: generate(self.options.pldc, t, self.options.work / "trees"), texts)
            for text, programs in zip(texts, made):
                text.endless = self.listed.is_endless(text)
                text.parts = [(self.units.add(files), entries) for files, entries in programs]

    def runs(self):
        """By program, entry and rank count: the distinct generated programs in the order of their texts."""
        for name, texts in self.programs:
            groups = collections.OrderedDict()
            for text in texts:
                for key, entries in text.parts:
                    if key in self.units.broken:
                        text.code, text.message = "compile", self.units.broken[key]
                        continue
                    for entry, ranks in ((entry, ranks) for entry in entries for ranks in rank_counts(entry)):
                        # Distinct texts may name the parameters of equal programs differently: the names are in the key.
                        group = groups.setdefault((entry["name"], ranks), collections.OrderedDict())
                        kind = (key, text.tolerant, text.endless)
                        run = group.setdefault(kind, Run(name, key, entry, ranks, text.tolerant))
                        run.texts.append(text)
            yield from (list(group.values()) for group in groups.values())

    def execute(self):
        """First what gives an output its reference value, the earliest that runs, then everything against the references."""
        groups = [(group, {}) for group in self.runs()]
        count, made = 0, set()
        for turn in range(max((len(group) for group, _ in groups), default=0)):
            runs = []
            for at, (group, references) in enumerate(groups):
                new = [name for name in group[turn].outputs if name not in references] if turn < len(group) else []
                if new:
                    files = {name: self.options.work / f"reference_{at}_{name}.npy" for name in new}
                    words = [w for name, path in files.items() for w in ("--out", f"{name}={path}")]
                    runs.append((group[turn], group[turn].arguments(self.options.work) + words, references, files))
            results = self.run_all([run[:2] for run in runs])
            for (run, _, references, files), good in zip(runs, results):
                made.add(id(run))
                if good:
                    references.update(files)
                    run.fresh = list(files)
            count += len(runs)
        runs = []
        for group, references in groups:
            for run in group:
                failed = any(text.failures for text in run.texts)
                # Some passes make an input that is returned an output of its own.
                expected = [f"{name}={path}" for name, path in references.items() if name in run.outputs]
                if not failed and (id(run) not in made or set(references) - set(run.fresh)):
                    if references and not expected:
                        for text in run.texts:
                            text.failures.append("no output in common with the texts before")
                    tolerance = TOLERANCE if run.tolerant else ["--rtol", "0", "--atol", "0"]
                    words = tolerance + [w for e in expected for w in ("--expect", e)]
                    runs.append((run, run.arguments(self.options.work) + words))
        self.run_all(runs)
        return count + len(runs)

    def run_all(self, runs):
        """Whether each run ended well; what did not is a failure of its texts."""
        good = []
        for (run, _), (code, output) in zip(runs, self.units.run([(r.key, words) for r, words in runs])):
            good.append(code == 0)
            if code != 0:
                what = f"{run.entry['name']} on {run.ranks or 'its'} ranks: exit {code}: {output.strip()[-600:]}"
                for text in run.texts:
                    text.failures.append(what)
        return good

    @staticmethod
    def how(failure):
        return "endless" if "error: timeout:" in failure else "run"

    def judge(self):
        listed = self.listed
        passed, failed, skipped = 0, 0, collections.Counter()
        for text in self.texts():
            code = self.how(text.failures[0]) if text.failures else text.code
            row = listed.row(text, code)
            if row and row[3] in (code, "race"):
                listed.used.add(row[0])
                skipped[f"{row[3]} {row[4]}"] += 1
            elif row:
                failed += 1
                how = f"ends with {code}: {(text.failures or [text.message])[0]}" if code else "runs"
                print(f"FAIL {text.name}: {NOT_RUN.name}:{row[0]} says {row[3]}, but it {how}")
            elif code:
                failed += 1
                print(f"FAIL {text.name}: {code} {(text.failures or [text.message])[0]}")
            else:
                passed += 1
        return passed, failed, skipped, listed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pldc", default=str(ROOT / "build/src/driver/pldc"))
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--stages", choices=["source", "all"], default=os.environ.get("PLDC_TEST_STAGES", "source"))
    parser.add_argument("-k", help="only texts whose PROGRAM/FILE matches")
    options = parser.parse_args()
    if options.corpus is None:
        part = ROOT / "tests/data/corpus"
        options.corpus = pathlib.Path(os.environ.get("PLDC_CORPUS") or default_corpus()) if options.stages == "all" else part
    with tempfile.TemporaryDirectory() as temporary:
        options.work = options.work or pathlib.Path(temporary)
        options.work.mkdir(parents=True, exist_ok=True)
        suite = Suite(options)
        suite.generate_all()
        suite.units.compile()
        count = suite.execute()
        passed, failed, skipped, listed = suite.judge()
    if options.stages == "all" and not options.k:
        for row in listed.rows:
            if row[0] not in listed.used:
                failed += 1
                print(f"FAIL {NOT_RUN.name}:{row[0]} is about no text: {row[1]}")
    for reason, texts in skipped.most_common():
        print(f"{texts:5} not run: {reason}")
    print(f"{passed} texts equal in {count} runs of {suite.units.counts()}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
