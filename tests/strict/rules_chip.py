"""Chip orchestrations: codegen.md 1.3, 2.3."""
import re
from dataclasses import dataclass, field

from findings import rule
from syntax import Braces, Call, Declare, Eval, Member, Name, calls, show, statements, walk
from rules_entry import check_names
from values import poly

rule('chip-include', '6.0', '"pld/orch.h" and nothing else')
rule('chip-entry', '1.3', 'PLD_API aicpu_orchestration_config and aicpu_orchestration_entry of const ChipTaskArgs&, nothing else')
rule('expected-args', '1.3', 'an expected_arg_count of tensors plus scalars')
rule('chip-argument', '1.3', 'tensors and scalars that the chip has')
rule('tensors-first', '1.2', 'all tensors of a task before its scalars')
rule('task-arguments', '2.3', 'the tensors and scalars that the kernel takes, by the directions of its signature; 32 and 16 at most')
rule('submit', '1.3', 'rt_submit_aiv_task, rt_submit_aic_task or MixedKernels with kernels of that core')
rule('chip-limits', '2.3', '256 tensors and 128 scalars of a chip, 64 callables')
rule('dependencies', '1.3', 'set_dependencies with an array of PTO2TaskId and its length')
rule('sync-start', '1.3', 'set_require_sync_start(true) for blocks that wait for signals')
rule('chip-name', '1.3', 'names of the orchestration API and of the official side of pld/orch.h')

OFFICIAL = set('''ChipTaskArgs CoreTaskArgs ChipTensor PTO2OrchestrationConfig TensorCreateInfo TaskOutputTensors PTO2TaskId
MixedKernels PTO2_SCOPE PTO2ScopeMode DataType CommContext alloc_tensors rt_submit_aiv_task rt_submit_aic_task rt_submit_task
rt_submit_dummy_task PLD_API PLD_LOC'''.split())


@dataclass
class Task:
    line: int
    name: str
    added: list = field(default_factory=list)  # of (line, method)
    submitted: bool = False
    blocks: bool = False
    sync_start: bool = False


def check_unit(unit, report, builtin=False):
    names = [n for _, n in unit.includes]
    official = {'<stdint.h>', '<stddef.h>', '<stdio.h>', '"pto_orchestration_api.h"'}
    if names != ['"pld/orch.h"'] and not (set(names) <= official and names[-1:] == ['"pto_orchestration_api.h"']):
        report(unit.includes[0][0] if unit.includes else 1, 'chip-include', f'the file includes {", ".join(names) or "nothing"}')
    made = {f.name: f for f in unit.functions}
    for name, kind in (('aicpu_orchestration_config', 'PTO2OrchestrationConfig'), ('aicpu_orchestration_entry', 'void')):
        f = made.get(name)
        if f is None:
            report(1, 'chip-entry', f'{name} is not defined')
        elif (f.qualifiers != ('PLD_API',) or str(f.type) != kind or [str(t) for t, _ in f.params] != ['const ChipTaskArgs&']):
            report(f.line, 'chip-entry', f'{" ".join(f.qualifiers)} {f.type} {f.name}({", ".join(str(t) for t, _ in f.params)})')
    for f in unit.functions:
        if f.name not in ('aicpu_orchestration_config', 'aicpu_orchestration_entry'):
            report(f.line, 'chip-entry', f'the function {f.name}')
    if unit.using:
        report(unit.using[0][0], 'chip-entry', f'using namespace {unit.using[0][1]}')
    return made.get('aicpu_orchestration_config'), made.get('aicpu_orchestration_entry')


def expected_args(config, report):
    for stmt in statements(config.body):
        for e in [getattr(stmt, 'value', None)]:
            if isinstance(e, Braces) and e.items and e.items[0][0] == 'expected_arg_count':
                return poly(e.items[0][1]).constant
    report(config.line, 'expected-args', 'the configuration gives no expected_arg_count')
    return None


def call_of(stmt):
    """The calls of methods of a task: p0.add_input(x)."""
    for e in ([stmt.value] if isinstance(stmt, Eval) else list(stmt.init) if isinstance(stmt, Declare) else []):
        for part in walk(e):
            if isinstance(part, Call):
                yield part


class Chip:
    """`kernels`: id -> (core, [(kind, direction)], waits), from the manifest; None: not known."""

    def __init__(self, unit, report, known, kernels=None, args=None):
        self.report, self.kernels = report, kernels
        config, entry = check_unit(unit, report)
        if config is None or entry is None:
            return
        self.tasks = {}
        self.arrays = {}
        indices = {'tensor': set(), 'scalar': set()}
        param = entry.params[0][1]
        for stmt in statements(entry.body):
            if isinstance(stmt, Declare) and stmt.type.name == 'CoreTaskArgs':
                self.tasks[stmt.name] = Task(stmt.line, stmt.name)
            if isinstance(stmt, Declare) and stmt.type.name == 'PTO2TaskId' and stmt.extent is not None:
                self.arrays[stmt.name] = poly(stmt.extent).constant
            for call in call_of(stmt):
                self.call(call, param, indices)
        # A parameter that nothing uses is not unpacked, so the count may be larger than what is seen.
        count = expected_args(config, report)
        lower = sum(max(s, default=-1) + 1 for s in indices.values())
        if count is not None and (count < lower or (args is not None and count != args)):
            report(config.line, 'expected-args', f'expected_arg_count is {count} with {args if args is not None else lower} arguments')
        if max(indices['tensor'], default=0) >= 256 or max(indices['scalar'], default=0) >= 128:
            report(entry.line, 'chip-limits', f'{lower} arguments')
        if kernels is not None and len(kernels) > 64:
            report(entry.line, 'chip-limits', f'{len(kernels)} kernels')
        for task in self.tasks.values():
            if not task.submitted:
                report(task.line, 'submit', f'{task.name} is filled and never submitted')
        check_names(unit, entry, known | OFFICIAL, lambda l, r, t: report(l, 'chip-name' if r == 'known-name' else r, t))

    def call(self, call, param, indices):
        callee = call.callee
        if isinstance(callee, Member):
            owner = show(callee.object)
            if owner == param and callee.name in indices and len(call.args) == 1:
                value = poly(call.args[0]).constant
                if value is None or value < 0:
                    self.report(call.line, 'chip-argument', f'{show(call)}')
                else:
                    indices[callee.name].add(value)
                return
            task = self.tasks.get(owner.removesuffix('.launch_spec'))
            if task is None:
                return
            if callee.name.startswith('add_'):
                if task.submitted:
                    self.report(call.line, 'submit', f'{show(callee)} after the task was submitted')
                if callee.name != 'add_scalar' and any(m == 'add_scalar' for _, m in task.added):
                    self.report(call.line, 'tensors-first', f'{show(callee)} after add_scalar')
                task.added.append((call.line, callee.name))
            elif callee.name == 'set_block_num':
                task.blocks = show(call.args[0]) != '1'
            elif callee.name == 'set_require_sync_start':
                task.sync_start = show(call.args[0]) == 'true'
            elif callee.name == 'set_dependencies':
                self.dependencies(call)
        elif isinstance(callee, Name) and callee.name in ('rt_submit_aiv_task', 'rt_submit_aic_task', 'rt_submit_task'):
            self.submit(call, callee.name)

    def dependencies(self, call):
        array, count = show(call.args[0]), poly(call.args[1]).constant if len(call.args) == 2 else None
        if array not in self.arrays or count is None or count > self.arrays[array]:
            self.report(call.line, 'dependencies', show(call))

    def submit(self, call, name):
        task = self.tasks.get(show(call.args[-1])) if len(call.args) == 2 else None
        if task is None:
            self.report(call.line, 'submit', f'{show(call)} submits no CoreTaskArgs')
            return
        task.submitted = True
        ids = []
        if name == 'rt_submit_task':
            parts = call.args[0]
            if not isinstance(parts, Braces) or str(parts.type) != 'MixedKernels' or len(parts.items) != 3:
                self.report(call.line, 'submit', f'{show(call)}: MixedKernels has three parts')
                return
            for (_, part), core in zip(parts.items, ('aic', 'aiv', 'aiv')):
                if show(part) not in ('kInvalidKernel', '-1'):
                    ids.append((poly(part).constant, core))
        else:
            ids.append((poly(call.args[0]).constant, name[10:13]))
        tensors = [m for _, m in task.added if m != 'add_scalar']
        scalars = len(task.added) - len(tensors)
        if len(tensors) > 32 or scalars > 16:
            self.report(call.line, 'task-arguments', f'{task.name} has {len(tensors)} tensors and {scalars} scalars')
        for kernel, core in ids:
            if self.kernels is None:
                continue
            if kernel not in self.kernels:
                self.report(call.line, 'submit', f'there is no kernel {kernel}')
                continue
            of = self.kernels[kernel]
            if of['core'] != core:
                self.report(call.line, 'submit', f'kernel {kernel} runs on {of["core"]} and is submitted for {core}')
            if name != 'rt_submit_task':
                self.compare(call, task, of, tensors, scalars)
            if of['waits'] and task.blocks and not task.sync_start:
                self.report(call.line, 'sync-start', f'{task.name} launches blocks of kernel {kernel}, which waits')

    def compare(self, call, task, of, tensors, scalars):
        directions = of['directions']
        if len(tensors) != len(directions) or scalars != of['scalars']:
            self.report(call.line, 'task-arguments', f'{task.name} has {len(tensors)} tensors and {scalars} scalars, the kernel '
                        f'takes {len(directions)} and {of["scalars"]}')
            return
        for (line, method), direction in zip(task.added, directions):
            # What only reads may not be declared as written alone, and the reverse.
            if (direction == 'in' and method == 'add_output') or (direction != 'in' and method == 'add_input'):
                self.report(line, 'task-arguments', f'{task.name}.{method} for a tensor that the kernel takes as {direction}')


def check(unit, report, known, kernels=None, args=None):
    Chip(unit, report, known, kernels, args)
