"""Flags, barriers and the order of pipes on every path: codegen.md 3.4.

An abstract run: of each instruction since the last barrier it is known which pipes may count on its being complete. Loops of
a few constant iterations are run out, others until nothing new is found; branches are joined.
"""
from findings import rule
from kernel import Global, Tile
from syntax import (Binary, Call, Declare, Eval, For, If, Jump, Name, Return, Scope, Unary, While, expressions, show,
                    statements, walk)
from rules_instr import pipe_of
from values import Poly, compare, poly

PIPES = ('PIPE_S', 'PIPE_V', 'PIPE_M', 'PIPE_MTE1', 'PIPE_MTE2', 'PIPE_MTE3', 'PIPE_FIX')

rule('flag', '3.4', 'flags between two different pipes of ' + ', '.join(PIPES) + ' with EVENT_ID0 to EVENT_ID7')
rule('flag-pair', '3.4', 'each set_flag paired with one wait_flag of the same pipes and event on every path')
rule('order', '3.4', 'a flag or barrier between instructions of different pipes that use the same memory')
rule('barrier', '3.4', 'pipe_barrier of a pipe or PIPE_ALL')
rule('barrier-notify', '3.4', 'pipe_barrier(PIPE_ALL) before a TNOTIFY of a peer')
rule('barrier-put', '3.4', 'pipe_barrier(PIPE_ALL) before and after TPUT and TGET')
rule('barrier-end', '3.4', 'a kernel that ends with all its instructions complete')

UNROLLED = 4


class State:
    def __init__(self):
        self.known = {}  # (node, region) of an instruction -> set of pipes that count on its being complete
        self.flags = {}  # (source, destination, event) -> (instructions, line)
        self.put = None  # line of a TPUT or TGET with no barrier behind it
        self.values = {}

    def copy(self):
        out = State()
        out.known = {k: set(v) for k, v in self.known.items()}
        out.flags = dict(self.flags)
        out.put, out.values = self.put, dict(self.values)
        return out

    def same(self, other):
        return (self.known == other.known and set(self.flags) == set(other.flags) and self.put == other.put
                and self.values == other.values)


class Op:
    """What an instruction touches."""

    def __init__(self, step, pipe):
        self.line, self.name, self.pipe = step.line, step.name, pipe
        self.reads, self.writes = [], []
        operands = [o for o in step.operands if isinstance(o, (Tile, Global))]
        writes = 1
        if step.name in ('.GetValue', 'pld_read'):
            writes = 0
        for i, o in enumerate(operands):
            where = o.region() if isinstance(o, Tile) else ('GM', o.root)
            into = self.writes if i < writes else self.reads
            into.append((where, o.name))
        if step.name in ('TINSERT', 'TSCATTER', '.SetValue', 'TMATMUL_ACC', 'TGEMV_ACC') and operands:
            self.reads.append(self.writes[0])


def meets(a, b):
    if a[0] != b[0]:
        return False
    if a[0] == 'GM':
        return a[1] == b[1] or '?' in (a[1], b[1])
    return a[1] < b[2] and b[1] < a[2]


def conflict(a, b):
    for xs, ys in ((a.writes, b.reads), (a.writes, b.writes), (a.reads, b.writes)):
        for x, name in xs:
            for y, other in ys:
                if meets(x, y):
                    return name, other
    return None


class Run:
    def __init__(self, kernel, report):
        self.kernel, self.report = kernel, report
        self.ops = {}
        self.loops = []  # (states at continue, states at break)

    def all(self):
        state = self.body(self.kernel.function.body, State())
        if state is not None:
            self.end(state, self.kernel.function.line)

    def end(self, state, line):
        for key in state.known:
            op = self.ops[key]
            self.report(op.line, 'barrier-end', f'{op.name} may be unfinished where the kernel ends')
            break
        if state.put is not None:
            self.report(state.put, 'barrier-put', 'no barrier stands between the transfer and the end of the kernel')
        for (source, to, event), (_, at) in state.flags.items():
            self.report(at, 'flag-pair', f'set_flag({source}, {to}, {event}) has no wait_flag before the end')

    # None: the end of the body is not reached.
    def body(self, body, state):
        for stmt in body:
            if state is None:
                return None
            state = self.statement(stmt, state)
        return state

    def statement(self, stmt, state):
        if isinstance(stmt, (Declare, Eval)):
            self.simple(stmt, state)
            return state
        if isinstance(stmt, If):
            self.simple(stmt, state)
            taken = compare(stmt.condition, state.values)
            if taken is not None:
                return self.body(stmt.then if taken else stmt.other, state)
            return self.join(self.body(stmt.then, state.copy()), self.body(stmt.other, state.copy()), stmt.line)
        if isinstance(stmt, For):
            return self.loop_for(stmt, state)
        if isinstance(stmt, While):
            return self.loop(stmt, stmt.body, state, None)
        if isinstance(stmt, Scope):
            return self.body(stmt.body, state)
        if isinstance(stmt, Return):
            self.end(state, stmt.line)
            return None
        if isinstance(stmt, Jump):
            self.loops[-1][0 if stmt.word == 'continue' else 1].append(state.copy())
            return None
        return state

    def join(self, a, b, line):
        if a is None or b is None:
            return a if b is None else b
        out = State()
        for key in set(a.known) | set(b.known):
            if key in a.known and key in b.known:
                out.known[key] = a.known[key] & b.known[key]
            else:
                out.known[key] = set(a.known.get(key) or b.known[key])
        out.flags = dict(a.flags)
        for key in set(a.flags) ^ set(b.flags):
            at = (a.flags.get(key) or b.flags.get(key))[1]
            self.report(at, 'flag-pair', f'set_flag({", ".join(key)}) is waited for on one of two paths only')
            out.flags.pop(key, None)
        out.put = a.put or b.put
        out.values = {k: v for k, v in a.values.items() if b.values.get(k) == v}
        return out

    def loop_for(self, stmt, state):
        first = stmt.start[0]
        step = self.step_of(stmt.step, first.name)
        value = poly(first.init[0], state.values) if first.form == '=' else None
        if step is not None and value is not None and value.constant is not None:
            rounds, at = [], value.constant
            while len(rounds) <= UNROLLED:
                holds = compare(stmt.condition, {**state.values, first.name: Poly.number(at)})
                if holds is not True:
                    break
                rounds.append(at)
                at += step
            if holds is False and len(rounds) <= UNROLLED:
                return self.unrolled(stmt, first.name, rounds, state)
        state.values.pop(first.name, None)
        return self.loop(stmt, stmt.body, state, first.name)

    @staticmethod
    def step_of(e, name):
        if isinstance(e, Unary) and e.op in ('++', 'post++'):
            return 1
        if isinstance(e, Binary) and e.op == '+=' and isinstance(e.left, Name) and e.left.name == name:
            return poly(e.right).constant
        return None

    def unrolled(self, stmt, name, rounds, state):
        breaks = []
        for at in rounds:
            self.loops.append(([], breaks))
            state.values[name] = Poly.number(at)
            state = self.body(stmt.body, state)
            for other in self.loops.pop()[0]:
                state = self.join(state, other, stmt.line)
            if state is None:
                break
        for other in breaks:
            state = self.join(state, other, stmt.line)
        if state is not None:
            state.values.pop(name, None)
        return state

    def loop(self, stmt, body, state, name):
        for changed in self.assigned(body):
            state.values.pop(changed, None)
        breaks = []
        for _ in range(6):
            before = state.copy()
            self.simple(stmt, state)
            self.loops.append(([], breaks))
            after = self.body(body, state.copy())
            for other in self.loops.pop()[0]:
                after = self.join(after, other, stmt.line)
            state = self.join(before.copy(), after, stmt.line)
            if state.same(before):
                break
        for other in breaks:
            state = self.join(state, other, stmt.line)
        return state

    @staticmethod
    def assigned(body):
        for stmt in statements(body):
            if isinstance(stmt, Eval) and isinstance(stmt.value, Binary) and isinstance(stmt.value.left, Name):
                yield stmt.value.left.name

    # -- one statement
    def simple(self, stmt, state):
        for e in expressions(stmt):
            for part in walk(e):
                if isinstance(part, Call) and id(part) in self.kernel.by_node:
                    self.step(self.kernel.by_node[id(part)], part, state)

    def step(self, step, node, state):
        name = step.name
        if name in ('set_flag', 'wait_flag'):
            return self.flag(step, state)
        if name in ('pipe_barrier', 'pld_fence'):
            return self.barrier(step, state)
        if state.put is not None and (pipe_of(step) or name.startswith('comm::T')):
            self.report(state.put, 'barrier-put', f'no barrier stands between the transfer and {name} in line {step.line}')
            state.put = None
        if name in ('comm::TPUT', 'comm::TGET'):
            for key in state.known:
                op = self.ops[key]
                self.report(step.line, 'barrier-put', f'{op.name} in line {op.line} may be unfinished at {name}')
                break
            state.put = step.line
            return
        if name == 'comm::TNOTIFY':
            remote = isinstance(step.operands[0], Global) and step.operands[0].remote
            if remote:
                for key in state.known:
                    op = self.ops[key]
                    self.report(step.line, 'barrier-notify', f'{op.name} in line {op.line} may be unfinished at TNOTIFY')
                    break
            return
        pipe = pipe_of(step)
        if pipe is None:
            return
        op = Op(step, pipe)
        if name in ('pld_read', 'pld_write'):
            into = op.reads if name == 'pld_read' else op.writes
            into.append((('GM', self.kernel.root(step.args[0])), show(step.args[0])))
        key = (id(node), tuple(op.reads), tuple(op.writes))
        for other_key, known in state.known.items():
            other = self.ops[other_key]
            if other.pipe == pipe or pipe in known:
                continue
            both = conflict(other, op)
            if both:
                self.report(step.line, 'order', f'{name} in {pipe} uses {both[1]} while {other.name} of line {other.line} in '
                            f'{other.pipe} may be unfinished with {both[0]}')
        self.ops[key] = op
        state.known[key] = {pipe}

    def flag(self, step, state):
        texts = [show(a) for a in step.args]
        if (len(texts) != 3 or texts[0] not in PIPES or texts[1] not in PIPES or texts[0] == texts[1]
                or texts[2] not in [f'EVENT_ID{i}' for i in range(8)]):
            self.report(step.line, 'flag', f'{step.name}({", ".join(texts)})')
            return
        key = tuple(texts)
        if step.name == 'set_flag':
            if key in state.flags:
                self.report(step.line, 'flag-pair', f'set_flag({", ".join(texts)}) again, not waited for since line '
                            f'{state.flags[key][1]}')
            done = [k for k, known in state.known.items() if texts[0] in known or self.ops[k].pipe == texts[0]]
            state.flags[key] = (done, step.line)
            return
        if key not in state.flags:
            self.report(step.line, 'flag-pair', f'wait_flag({", ".join(texts)}) waits for a flag that nothing sets')
            return
        for k in state.flags.pop(key)[0]:
            if k in state.known:
                state.known[k].add(texts[1])

    def barrier(self, step, state):
        pipe = show(step.args[0]) if step.args else 'PIPE_ALL'
        if pipe == 'PIPE_ALL':
            state.known.clear()
            state.put = None
        elif pipe not in PIPES:
            self.report(step.line, 'barrier', f'pipe_barrier({pipe})')


def check(kernel, report):
    Run(kernel, report).all()
