"""A kernel as tiles, global tensors and instructions on them, in the order of the text."""
from dataclasses import dataclass, field

from reader import Unreadable
from syntax import (Alias, Braces, Call, Declare, Eval, For, If, Jump, Member, Name, Return, Scope, Type, While, calls,
                    expressions, show, walk)
from values import Poly, poly

SIZES = {'float': 4, 'half': 2, 'bfloat16_t': 2, 'int8_t': 1, 'uint8_t': 1, 'int16_t': 2, 'uint16_t': 2, 'int32_t': 4,
         'uint32_t': 4, 'int64_t': 8, 'uint64_t': 8, 'float8_e4m3_t': 1, 'float8_e8m0_t': 1}
ALIASES = {'TileLeft': 'Left', 'TileRight': 'Right', 'TileAcc': 'Acc'}
CUBE = ('Mat', 'Left', 'Right', 'Acc', 'Bias', 'Scaling')


@dataclass
class Tile:
    name: str
    line: int
    place: str  # Vec, Mat, Left, ...
    dtype: str
    rows: int
    cols: int
    layout: str = 'RowMajor'
    boxes: str = 'NoneBox'
    fractal: int = 512
    alias: bool = False
    static_rows: int = 0  # valid extents in the type; -1: given at run time
    static_cols: int = 0
    given: int = 0  # arguments of the constructor
    valid: tuple = (None, None)  # Poly each, at this point of the text; None: not known
    addresses: list = field(default_factory=list)  # (line, Poly)

    @property
    def bytes(self):
        return self.rows * self.cols * SIZES.get(self.dtype, 1)

    @property
    def is_column(self):
        return self.boxes == 'NoneBox' and self.layout == 'ColMajor' and self.cols == 1

    @property
    def row_major(self):
        return not self.alias and self.boxes == 'NoneBox' and self.layout == 'RowMajor'

    def region(self):
        """(memory, first byte, end): all of it if the address is not constant."""
        if len(self.addresses) == 1 and self.addresses[0][1].constant is not None:
            begin = self.addresses[0][1].constant
            return self.place, begin, begin + self.bytes
        return self.place, 0, 1 << 62


@dataclass
class Global:
    name: str
    line: int
    dtype: str
    shape: list  # Poly
    stride: list
    layout: str
    root: str  # the pointer variable
    remote: bool  # through pld_peer
    signal: bool = False


@dataclass
class Instruction:
    line: int
    name: str
    args: tuple  # expressions
    targs: tuple
    operands: list  # Tile, Global or None for each argument
    valids: list  # of the tiles, at this point


class Kernel:
    """`findings(line, rule, text)` is called for what cannot be a kernel at all."""

    def __init__(self, unit, function, report):
        self.unit, self.function, self.report = unit, function, report
        self.tiles, self.globals, self.instructions = [], [], []
        self.pointers = {}  # variable -> (kind, index, type text) of arguments
        self.arguments = []  # (line, kind, index, type text, name)
        self.by_node = {}  # id of a Call -> Instruction
        self.names = [{}]
        self.constants = {}
        self.declared = []  # (line, name)
        self.body(function.body)

    def fail(self, line, what):
        raise Unreadable(self.unit.file, line, what)

    # -- scopes
    def find(self, name):
        for scope in reversed(self.names):
            if name in scope:
                return scope[name]
        return None

    def bind(self, name, what):
        self.names[-1][name] = what

    def all_tiles(self):
        return [t for scope in self.names for t in scope.values() if isinstance(t, Tile)]

    # -- statements
    def body(self, body):
        for stmt in body:
            self.statement(stmt)

    def inside(self, body):
        self.names.append({})
        self.body(body)
        self.names.pop()

    def statement(self, stmt):
        if isinstance(stmt, Alias):
            self.bind(stmt.name, stmt.type)
        elif isinstance(stmt, Declare):
            self.declare(stmt)
        elif isinstance(stmt, Eval):
            self.values(stmt)
        elif isinstance(stmt, If):
            self.values(stmt)
            before = {id(t): t.valid for t in self.all_tiles()}
            self.inside(stmt.then)
            after = {id(t): t.valid for t in self.all_tiles()}
            for t in self.all_tiles():
                t.valid = before[id(t)]
            self.inside(stmt.other)
            for t in self.all_tiles():
                a, b = after[id(t)], t.valid
                t.valid = tuple(x if x == y else None for x, y in zip(a, b))
        elif isinstance(stmt, For):
            self.names.append({})
            for part in stmt.start:
                self.declare(part)
            self.values(stmt)
            self.body(stmt.body)
            self.names.pop()
        elif isinstance(stmt, While):
            self.values(stmt)
            self.inside(stmt.body)
        elif isinstance(stmt, Scope):
            if stmt.args is not None:
                self.fail(stmt.line, 'a kernel has no scopes of tasks')
            self.inside(stmt.body)
        elif isinstance(stmt, Return):
            if stmt.value is not None:
                self.fail(stmt.line, 'kernel_entry returns no value')
        elif not isinstance(stmt, Jump):
            self.fail(stmt.line, f'a kernel has no {type(stmt).__name__}')

    def declare(self, stmt):
        self.declared.append((stmt.line, stmt.name))
        made = stmt.type
        alias = self.find(made.name)
        if isinstance(alias, Type):
            made = alias
        self.values(stmt)
        base = made.name.removeprefix('pto::')
        if base in ('Tile', 'TileLeft', 'TileRight', 'TileAcc'):
            tile = self.tile(stmt, made, base)
            self.tiles.append(tile)
            self.bind(stmt.name, tile)
        elif base == 'GlobalTensor' or base == 'comm::Signal':
            made_global = self.signal(stmt) if base == 'comm::Signal' else self.global_tensor(stmt, made)
            self.globals.append(made_global)
            self.bind(stmt.name, made_global)
        else:
            value = poly(stmt.init[0]) if stmt.form == '=' else None
            self.bind(stmt.name, ('scalar', stmt))
            if stmt.form == '=' and isinstance(stmt.init[0], Call) and 'args' in [show(a) for a in stmt.init[0].args]:
                self.argument(stmt, stmt.init[0])
            if made.const and value is not None and value.constant is not None:
                self.constants[stmt.name] = value
            else:
                self.constants.pop(stmt.name, None)
                if made.suffix:
                    self.pointers.setdefault(stmt.name, self.root(stmt.init[0]) if stmt.init else '?')

    def argument(self, stmt, call):
        name = call.callee.name if isinstance(call.callee, Name) else ''
        kinds = {'pld_arg': 'tensor', 'pld_scalar': 'scalar', 'pld_ctx': 'context', 'pld_dim': 'dim', 'pld_stride': 'stride'}
        if name in kinds and len(call.args) > 1:
            index = poly(call.args[1]).constant
            of = str(call.callee.args[0]) if call.callee.args else ''
            self.arguments.append((stmt.line, kinds[name], index, of, stmt))
            if kinds[name] == 'tensor':
                self.pointers[stmt.name] = stmt.name

    def number(self, e):
        """A constant template argument."""
        value = poly(e, self.constants).constant if not isinstance(e, Type) else None
        if isinstance(e, Type) and e.name in self.constants:
            value = self.constants[e.name].constant
        return value

    def tile(self, stmt, made, base):
        args = list(made.args or ())
        if base == 'Tile':
            if len(args) < 4 or not show(args[0]).startswith('TileType::'):
                self.fail(stmt.line, f'the tile type {made} has no memory, element type, rows and columns')
            place = show(args.pop(0)).split('::')[-1]
        else:
            place = ALIASES[base]
        if len(args) < 3:
            self.fail(stmt.line, f'the tile type {made} has no element type, rows and columns')
        dtype, rows, cols = show(args[0]), self.number(args[1]), self.number(args[2])
        if rows is None or cols is None:
            self.fail(stmt.line, f'the extents of {made} are not constant')
        tile = Tile(stmt.name, stmt.line, place, dtype, rows, cols, alias=base != 'Tile')
        rest = args[3:]
        if base == 'Tile' and rest:
            tile.layout = show(rest.pop(0)).split('::')[-1]
        tile.static_rows = self.number(rest[0]) if rest else rows
        tile.static_cols = self.number(rest[1]) if len(rest) > 1 else cols
        if tile.static_rows is None or tile.static_cols is None:
            self.fail(stmt.line, f'the valid extents of {made} are not constant')
        if base == 'Tile' and len(rest) > 2:
            tile.boxes = show(rest[2]).split('::')[-1]
            tile.fractal = self.number(rest[3]) if len(rest) > 3 else 512
        given = list(stmt.init) if stmt.form == '(' else []
        tile.given = len(given)
        values = [poly(a, self.constants) for a in given]
        valid = [Poly.number(n) if n >= 0 else values.pop(0) if values else None for n in (tile.static_rows, tile.static_cols)]
        tile.valid = tuple(valid)
        return tile

    def extents(self, line, made, args, what):
        """Five Polys of a Shape or Stride; `args`: of its constructor."""
        static = [self.number(a) for a in made.args or ()]
        if len(static) != 5 or None in static:
            self.report(line, 'five-axes', f'{made} has {len(static)} extents')
            return [Poly({('?',): 1})] * 5
        dynamic = static.count(-1)
        given = [poly(a, self.constants) for a in args]
        if given and len(given) not in (5, dynamic):
            self.report(line, 'extents-given', f'{len(given)} extents are given to {made}')
            return [Poly({('?',): 1})] * 5
        if not given and dynamic:
            self.report(line, 'extents-given', f'no extent is given to {made}')
            return [Poly({('?',): 1})] * 5
        if len(given) == 5 and dynamic != 5:
            return [g if s == -1 else Poly.number(s) for s, g in zip(static, given)]
        return [Poly.number(s) if s != -1 else given.pop(0) for s in static]

    def root(self, pointer):
        for part in walk(pointer):
            if isinstance(part, Name) and part.name in self.pointers:
                return self.pointers[part.name]
        return '?'

    @staticmethod
    def is_remote(pointer):
        return any(isinstance(p, Name) and p.name == 'pld_peer' for p in walk(pointer))

    def global_tensor(self, stmt, made):
        args = list(made.args or ())
        if len(args) != 4 or stmt.form != '(' or not stmt.init:
            self.fail(stmt.line, f'{made} takes an element type, a shape, strides and a layout, and a pointer')
        parts = {}
        for kind, of, given in (('Shape', args[1], stmt.init[1:2]), ('Stride', args[2], stmt.init[2:3])):
            if getattr(of, 'name', '') != kind:
                self.report(stmt.line, 'five-axes', f'{show(of)} stands where {kind}<> is expected')
            values = ()
            if given:
                call = given[0]
                if not (isinstance(call, Call) and show(call.callee) == show(of)):
                    self.report(stmt.line, 'extents-given', f'{show(call)} is given for {show(of)}')
                else:
                    values = call.args
            parts[kind] = self.extents(stmt.line, of, values, kind)
        return Global(stmt.name, stmt.line, show(args[0]), parts['Shape'], parts['Stride'], show(args[3]).split('::')[-1],
                      self.root(stmt.init[0]), self.is_remote(stmt.init[0]))

    def signal(self, stmt):
        if stmt.form != '(' or len(stmt.init) != 1:
            self.fail(stmt.line, 'a comm::Signal takes one pointer')
        one = [Poly.number(1)] * 5
        return Global(stmt.name, stmt.line, 'int32_t', one, one, 'ND', self.root(stmt.init[0]), self.is_remote(stmt.init[0]),
                      True)

    # -- instructions
    def values(self, stmt):
        for e in expressions(stmt):
            for part in walk(e):
                if isinstance(part, Call):
                    self.call(part)

    def call(self, call):
        callee = call.callee
        if isinstance(callee, Member):
            tile = self.find(callee.object.name) if isinstance(callee.object, Name) else None
            if not isinstance(tile, Tile):
                self.fail(call.line, f'{show(callee.object)} in {show(callee)} is no tile')
            made = Instruction(call.line, '.' + callee.name, call.args, (), [tile], [tile.valid])
            if callee.name == 'SetValidShape' and len(call.args) == 2:
                new = [poly(a, self.constants) for a in call.args]
                tile.valid = tuple(Poly.number(s) if s >= 0 else n for s, n in zip((tile.static_rows, tile.static_cols), new))
        elif isinstance(callee, Name):
            name = callee.name.removeprefix('::').removeprefix('pto::')
            operands = [self.find(a.name) if isinstance(a, Name) and a.args is None else None for a in call.args]
            operands = [o if isinstance(o, (Tile, Global)) else None for o in operands]
            made = Instruction(call.line, name, call.args, callee.args or (), operands,
                               [o.valid if isinstance(o, Tile) else None for o in operands])
            if name == 'TASSIGN' and operands and isinstance(operands[0], Tile) and len(call.args) == 2:
                operands[0].addresses.append((call.line, poly(call.args[1], self.constants)))
        else:
            self.fail(call.line, f'{show(callee)} is called')
        self.instructions.append(made)
        self.by_node[id(call)] = made
