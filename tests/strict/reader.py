"""Reads the subset of C++ that generated kernels and chip orchestrations are written in.

What the subset lacks is an error with file and line: a checker that skips what it does not understand checks nothing.
"""
import re

from syntax import (Alias, Binary, Braces, Call, Choice, Declare, Eval, For, Function, If, Index, Jump, Member, Name,
                    Number, Return, Scope, String, Type, Unary, Unit, While)


class Unreadable(Exception):
    def __init__(self, file, line, what):
        super().__init__(f'{file}:{line}: {what}')
        self.file, self.line, self.what = file, line, what


# ---- tokens ------------------------------------------------------------------------------------------------------

TOKEN = re.compile(r'''
    (?P<space>\s+|//[^\n]*)
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<number>0[xX][0-9a-fA-F]+[uUlL]*|(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?[a-zA-Z]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<op><<=|>>=|->|::|\+\+|--|<<|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|%=|\[\[|\]\]|[-+*/%<>=!&|^~?:;,.(){}\[\]])
''', re.X)
# Names after which '<' begins template arguments; after all others it compares.
TEMPLATES = re.compile(r'(.*::)?(Tile|Tile(Left|Right|Acc)|GlobalTensor|Shape|Stride|(T|M)[A-Z][A-Z0-9_]+|\w+_cast|decltype|'
                       r'pld_(arg|scalar|floordiv|floormod|min|max|pow|abs|from_u64|to_u64|read|write|fill|next|u32|peer)|'
                       r'allreduce|allreduce_ring|broadcast|reduce_scatter|allgather|all_to_all|all_to_all_v|kWide)')
WORDS = {'if', 'else', 'for', 'while', 'return', 'break', 'continue', 'using', 'const', 'extern', 'static', 'do', 'switch',
         'goto', 'try', 'throw', 'new', 'delete', 'template', 'class', 'struct', 'union', 'enum', 'typedef', 'constexpr',
         'inline', 'auto', 'namespace', 'case', 'default', 'asm', 'volatile', 'operator'}


def tokens(file, text, unit):
    out = []
    lines = text.split('\n')
    for number, content in enumerate(lines, 1):
        if content.lstrip().startswith('#'):
            include = re.fullmatch(r'#include ([<"][^>"]+[>"])', content)
            if include:
                unit.includes.append((number, include.group(1)))
            else:
                unit.directives.append((number, content.strip()))
            lines[number - 1] = ''
        if content.rstrip().endswith('\\'):
            raise Unreadable(file, number, 'a line continues after a backslash')
    text = '\n'.join(lines)
    at, line = 0, 1
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found:
            raise Unreadable(file, line, f'no token begins with {text[at]!r}')
        if found.lastgroup != 'space':
            out.append((found.lastgroup, found.group(), line))
        line += found.group().count('\n')
        at = found.end()
    out.append(('end', '', line))
    return out


class Parser:
    """Recursive descent; one that cannot go on raises Unreadable."""
    LEVELS = (('||',), ('&&',), ('|',), ('^',), ('&',), ('==', '!='), ('<', '>', '<=', '>='), ('<<', '>>'), ('+', '-'),
              ('*', '/', '%'))

    def __init__(self, file, text):
        self.unit = Unit(file)
        self.file = file
        self.list = tokens(file, text, self.unit)
        self.at = 0

    # -- tokens
    @property
    def kind(self):
        return self.list[self.at][0]

    @property
    def text(self):
        return self.list[self.at][1]

    @property
    def line(self):
        return self.list[self.at][2]

    def fail(self, wanted):
        raise Unreadable(self.file, self.line, f'{self.text or "the end of the file"!r} where {wanted} is expected')

    def next(self):
        token = self.list[self.at]
        self.at += 1
        return token[1]

    def accept(self, text):
        if self.text == text and self.kind != 'string':
            self.at += 1
            return True
        return False

    def expect(self, text):
        if not self.accept(text):
            self.fail(repr(text))

    def name(self):
        if self.kind != 'name' or self.text in WORDS:
            self.fail('a name')
        return self.next()

    # -- types
    def qualified(self):
        self.accept('::')
        out = self.name()
        while self.accept('::'):
            out += '::' + self.name()
        return out

    def template_args(self):
        """After '<'."""
        out = []
        while True:
            out.append(self.template_arg())
            if self.accept('>'):
                return tuple(out)
            self.expect(',')

    def template_arg(self):
        mark = self.at
        if self.kind == 'name' and self.text not in WORDS:
            try:
                made = self.type()
                if self.text in (',', '>'):
                    return made
            except Unreadable:
                pass
            self.at = mark
        return self.binary(7)  # no comparisons

    def type(self):
        line, const, gm = self.line, False, False
        while self.text in ('const', '__gm__', 'constexpr'):
            gm = gm or self.text == '__gm__'
            const = const or self.text != '__gm__'
            self.at += 1
        if self.accept('auto'):
            name, args = 'auto', None
        else:
            name = self.qualified()
            while name.split()[-1] in ('long', 'unsigned') and self.text in ('long', 'int', 'char', 'short'):
                name += ' ' + self.next()
            if name == 'decltype':
                self.expect('(')
                args = (self.expression(),)
                self.expect(')')
            else:
                args = self.template_args() if self.accept('<') else None
        suffix = ''
        while self.text in ('*', '&'):
            suffix += self.next()
        return Type(line, name, args, const, gm, suffix)

    # -- expressions
    def expression(self):
        line, left = self.line, self.binary(0)
        if self.accept('?'):
            yes = self.expression()
            self.expect(':')
            return Choice(line, left, yes, self.expression())
        if self.text in ('=', '+=', '-=', '*=', '/=', '%='):
            op = self.next()
            return Binary(line, op, left, self.expression())
        return left

    def binary(self, level):
        if level == len(self.LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.text in self.LEVELS[level] and self.kind == 'op':
            line, op = self.line, self.next()
            left = Binary(line, op, left, self.binary(level + 1))
        return left

    def unary(self):
        line = self.line
        if self.kind == 'op' and self.text in ('-', '+', '!', '~', '++', '--', '*', '&'):
            op = self.next()
            return Unary(line, op, self.unary())
        return self.postfix(self.primary())

    def arguments(self, end):
        out = []
        while not self.accept(end):
            out.append(self.expression())
            if self.text != end:
                self.expect(',')
        return tuple(out)

    def postfix(self, value):
        while True:
            line = self.line
            if self.accept('('):
                value = Call(line, value, self.arguments(')'))
            elif self.accept('['):
                value = Index(line, value, self.expression())
                self.expect(']')
            elif self.text in ('.', '->'):
                self.at += 1
                value = Member(line, value, self.name())
            elif self.text in ('++', '--'):
                value = Unary(line, 'post' + self.next(), value)
            else:
                return value

    def braces(self, type_):
        line, items = self.line, []
        self.expect('{')
        while not self.accept('}'):
            field_name = None
            if self.accept('.'):
                field_name = self.name()
                self.expect('=')
            items.append((field_name, self.braces(None) if self.text == '{' else self.expression()))
            if self.text != '}':
                self.expect(',')
        return Braces(line, type_, tuple(items))

    def primary(self):
        line = self.line
        if self.kind == 'number':
            return Number(line, self.next())
        if self.kind == 'string':
            return String(line, self.next())
        if self.accept('('):
            inner = self.expression()
            self.expect(')')
            return inner
        if self.text == '{':
            return self.braces(None)
        if self.text == '::' or (self.kind == 'name' and self.text not in WORDS):
            name = self.qualified()
            args = None
            if self.text == '<' and TEMPLATES.fullmatch(name):
                self.at += 1
                args = self.template_args()
            if self.text == '{':
                return self.braces(Type(line, name, args))
            return Name(line, name, args)
        self.fail('an expression')

    # -- statements
    def block(self):
        """A block, or the one statement that stands for it."""
        if not self.accept('{'):
            return self.statement()
        out = []
        while not self.accept('}'):
            out += self.statement()
        return out

    def attributes(self):
        out = []
        while self.accept('[['):
            out.append(self.name())
            self.expect(']]')
        return tuple(out)

    def statement(self):
        line = self.line
        if self.text == '{':
            return [Scope(line, None, self.block())]
        if self.accept('if'):
            self.expect('(')
            condition = self.expression()
            self.expect(')')
            then = self.block()
            return [If(line, condition, then, self.block() if self.accept('else') else [])]
        if self.accept('for'):
            self.expect('(')
            start = self.declaration() or self.fail('the declaration of the loop variable')
            condition = self.expression()
            self.expect(';')
            step = self.expression()
            self.expect(')')
            return [For(line, start, condition, step, self.block())]
        if self.accept('while'):
            self.expect('(')
            condition = self.expression()
            self.expect(')')
            return [While(line, condition, self.block())]
        if self.accept('return'):
            value = None if self.text == ';' else self.expression()
            self.expect(';')
            return [Return(line, value)]
        if self.text in ('break', 'continue'):
            word = self.next()
            self.expect(';')
            return [Jump(line, word)]
        if self.accept('using'):
            alias = self.name()
            self.expect('=')
            made = self.type()
            self.expect(';')
            return [Alias(line, alias, made)]
        if self.text == 'PTO2_SCOPE':
            self.at += 1
            self.expect('(')
            args = self.arguments(')')
            if self.text != '{':
                self.fail('the block of the scope')
            return [Scope(line, args, self.block())]
        declared = self.declaration()
        if declared:
            return declared
        value = self.expression()
        self.expect(';')
        return [Eval(line, value)]

    def declaration(self):
        """A declaration, or None and nothing taken."""
        mark, line = self.at, self.line
        attributes = self.attributes()
        try:
            made = self.type()
            if self.kind != 'name' or self.text in WORDS:
                raise Unreadable(self.file, line, 'no declaration')
        except Unreadable:
            if attributes:
                raise
            self.at = mark
            return None
        out = []
        while True:
            name, form, init, extent = self.name(), '', (), None
            if self.accept('['):
                extent = self.expression()
                self.expect(']')
            if self.accept('='):
                form, init = '=', (self.expression(),)
            elif self.accept('('):
                form, init = '(', self.arguments(')')
            elif self.text == '{':
                form, init = '{', (self.braces(None),)
            out.append(Declare(line, made, name, form, init, extent, attributes))
            if self.accept(';'):
                return out
            self.expect(',')

    # -- the file
    def file_unit(self):
        while self.kind != 'end':
            line = self.line
            if self.accept('using'):
                self.expect('namespace')
                self.unit.using.append((line, self.qualified()))
                self.expect(';')
                continue
            self.unit.functions.append(self.function())
        return self.unit

    def function(self):
        line, qualifiers = self.line, []
        while self.text in ('extern', 'static', 'inline', '__aicore__', 'AICORE', 'PLD_API') or self.kind == 'string':
            qualifiers.append(self.next())
        made = self.type()
        name = self.name()
        self.expect('(')
        params = []
        while not self.accept(')'):
            self.attributes()
            param = self.type()
            params.append((param, self.name() if self.kind == 'name' else ''))
            if self.text != ')':
                self.expect(',')
        if self.text != '{':
            self.fail('the body of the function')
        return Function(line, tuple(qualifiers), made, name, params, self.block())


def read(file, text):
    return Parser(str(file), text).file_unit()
