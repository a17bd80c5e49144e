"""The tree of what reader.py reads: expressions, statements, functions."""
import re
from dataclasses import dataclass, field


# ---- expressions -------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Expr:
    line: int


@dataclass(frozen=True)
class Number(Expr):
    text: str

    @property
    def value(self):
        """The integer; None for a floating literal."""
        text = self.text.rstrip('uUlL')
        return int(text, 0) if re.fullmatch(r'0[xX][0-9a-fA-F]+|\d+', text) else None


@dataclass(frozen=True)
class String(Expr):
    text: str


@dataclass(frozen=True)
class Name(Expr):
    name: str  # with its namespaces: "comm::TPUT"
    args: tuple = None  # template arguments


@dataclass(frozen=True)
class Call(Expr):
    callee: object
    args: tuple


@dataclass(frozen=True)
class Member(Expr):
    object: object
    name: str


@dataclass(frozen=True)
class Index(Expr):
    object: object
    index: object


@dataclass(frozen=True)
class Unary(Expr):
    op: str
    operand: object


@dataclass(frozen=True)
class Binary(Expr):
    op: str
    left: object
    right: object


@dataclass(frozen=True)
class Choice(Expr):
    condition: object
    yes: object
    no: object


@dataclass(frozen=True)
class Braces(Expr):
    """T{a, b}, {a, b} or {.a = x}; `type` is None without a type."""
    type: object
    items: tuple  # of (field name or None, expression)


@dataclass(frozen=True)
class Type(Expr):
    name: str
    args: tuple = None  # template arguments: types and expressions
    const: bool = False
    gm: bool = False
    suffix: str = ''  # "*" and "&"

    def __str__(self):
        inner = '' if self.args is None else '<' + ', '.join(show(a) for a in self.args) + '>'
        return f'{"const " if self.const else ""}{"__gm__ " if self.gm else ""}{self.name}{inner}{self.suffix}'


def show(e):
    """The text of an expression, without spaces of its own taste."""
    if isinstance(e, (Number, String)):
        return e.text
    if isinstance(e, Name):
        return e.name + ('' if e.args is None else '<' + ', '.join(map(show, e.args)) + '>')
    if isinstance(e, Call):
        return f'{show(e.callee)}({", ".join(map(show, e.args))})'
    if isinstance(e, Member):
        return f'{show(e.object)}.{e.name}'
    if isinstance(e, Index):
        return f'{show(e.object)}[{show(e.index)}]'
    if isinstance(e, Unary):
        return f'{e.op}{show(e.operand)}'
    if isinstance(e, Binary):
        return f'({show(e.left)} {e.op} {show(e.right)})'
    if isinstance(e, Choice):
        return f'({show(e.condition)} ? {show(e.yes)} : {show(e.no)})'
    if isinstance(e, Braces):
        items = ', '.join((f'.{n} = ' if n else '') + show(v) for n, v in e.items)
        return f'{"" if e.type is None else e.type}{{{items}}}'
    return str(e)


def walk(e):
    """The expression and all inside of it."""
    if e is None:
        return
    yield e
    if isinstance(e, (Name, Type)):
        for a in e.args or ():
            yield from walk(a)
    elif isinstance(e, Call):
        yield from walk(e.callee)
        for a in e.args:
            yield from walk(a)
    elif isinstance(e, Member):
        yield from walk(e.object)
    elif isinstance(e, Index):
        yield from walk(e.object)
        yield from walk(e.index)
    elif isinstance(e, Unary):
        yield from walk(e.operand)
    elif isinstance(e, Binary):
        yield from walk(e.left)
        yield from walk(e.right)
    elif isinstance(e, Choice):
        for part in (e.condition, e.yes, e.no):
            yield from walk(part)
    elif isinstance(e, Braces):
        yield from walk(e.type)
        for _, value in e.items:
            yield from walk(value)


# ---- statements --------------------------------------------------------------------------------------------------

@dataclass
class Stmt:
    line: int


@dataclass
class Declare(Stmt):
    """One variable. `form` is how it is initialised: '' (not), '=', '(' or '{'."""
    type: Type
    name: str
    form: str
    init: tuple
    extent: object = None  # of an array
    attributes: tuple = ()


@dataclass
class Eval(Stmt):
    value: Expr


@dataclass
class If(Stmt):
    condition: Expr
    then: list
    other: list


@dataclass
class For(Stmt):
    start: list
    condition: Expr
    step: Expr
    body: list


@dataclass
class While(Stmt):
    condition: Expr
    body: list


@dataclass
class Scope(Stmt):
    """PTO2_SCOPE(args) { body }, or a plain block (args None)."""
    args: tuple
    body: list


@dataclass
class Return(Stmt):
    value: object


@dataclass
class Jump(Stmt):
    word: str


@dataclass
class Alias(Stmt):
    name: str
    type: Type


@dataclass
class Function:
    line: int
    qualifiers: tuple
    type: Type
    name: str
    params: list  # of (Type, name)
    body: list


@dataclass
class Unit:
    file: str
    includes: list = field(default_factory=list)  # of (line, "<x>" or "\"x\"")
    directives: list = field(default_factory=list)  # of (line, text): the other ones
    using: list = field(default_factory=list)  # of (line, namespace)
    functions: list = field(default_factory=list)


# ---- walks --------------------------------------------------------------------------------------------------------

def statements(body):
    """All statements, also those inside of others."""
    for stmt in body:
        yield stmt
        if isinstance(stmt, If):
            yield from statements(stmt.then)
            yield from statements(stmt.other)
        elif isinstance(stmt, For):
            yield from statements(stmt.start)
            yield from statements(stmt.body)
        elif isinstance(stmt, (While, Scope)):
            yield from statements(stmt.body)


def expressions(stmt):
    """The expressions of the statement itself, not of statements inside of it."""
    if isinstance(stmt, Declare):
        yield stmt.type
        yield from stmt.init
        if stmt.extent is not None:
            yield stmt.extent
    elif isinstance(stmt, Eval):
        yield stmt.value
    elif isinstance(stmt, (If, While)):
        yield stmt.condition
    elif isinstance(stmt, For):
        yield stmt.condition
        yield stmt.step
    elif isinstance(stmt, Return) and stmt.value is not None:
        yield stmt.value
    elif isinstance(stmt, Scope):
        yield from stmt.args or ()


def calls(body):
    """(statement, call) of all calls in the body, outermost first."""
    for stmt in statements(body):
        for e in expressions(stmt):
            for part in walk(e):
                if isinstance(part, Call):
                    yield stmt, part
