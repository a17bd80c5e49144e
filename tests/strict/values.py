"""Arithmetic on what the reader gives: integer expressions as polynomials, so that two texts of one value compare equal and
what divides a value can be shown."""
from syntax import Binary, Braces, Call, Name, Number, Unary, show

INTEGERS = {'int', 'int8_t', 'int16_t', 'int32_t', 'int64_t', 'uint8_t', 'uint16_t', 'uint32_t', 'uint64_t'}


class Poly:
    """A sum of products: {sorted tuple of atoms: factor}. An atom is the text of a part that is no sum or product."""

    def __init__(self, terms=()):
        self.terms = {k: v for k, v in dict(terms).items() if v != 0}

    @staticmethod
    def number(value):
        return Poly({(): value})

    @property
    def constant(self):
        """The value; None if it is not constant."""
        if not self.terms:
            return 0
        return self.terms[()] if set(self.terms) == {()} else None

    def __add__(self, other):
        out = dict(self.terms)
        for k, v in other.terms.items():
            out[k] = out.get(k, 0) + v
        return Poly(out)

    def scaled(self, factor):
        return Poly({k: v * factor for k, v in self.terms.items()})

    def __mul__(self, other):
        out = {}
        for a, x in self.terms.items():
            for b, y in other.terms.items():
                k = tuple(sorted(a + b))
                out[k] = out.get(k, 0) + x * y
        return Poly(out)

    def __eq__(self, other):
        return isinstance(other, Poly) and self.terms == other.terms

    def __hash__(self):
        return hash(tuple(sorted(self.terms.items())))

    def divisible(self, by):
        """Whether every value that it can have is a multiple."""
        return all(v % by == 0 for v in self.terms.values())

    def __str__(self):
        parts = []
        for atoms, factor in sorted(self.terms.items()):
            parts.append('*'.join(([str(factor)] if factor != 1 or not atoms else []) + list(atoms)))
        return ' + '.join(parts) or '0'


def poly(e, names=None):
    """The expression as a Poly; `names`: values of variables that are known, as Poly."""
    names = names or {}
    if isinstance(e, Number) and e.value is not None:
        return Poly.number(e.value)
    if isinstance(e, Name) and e.args is None:
        return names.get(e.name, Poly({(e.name,): 1}))
    if isinstance(e, Unary) and e.op in ('-', '+'):
        inner = poly(e.operand, names)
        return inner.scaled(-1) if e.op == '-' else inner
    if isinstance(e, Binary) and e.op in ('+', '-', '*'):
        a, b = poly(e.left, names), poly(e.right, names)
        return a * b if e.op == '*' else a + (b if e.op == '+' else b.scaled(-1))
    if isinstance(e, Binary) and e.op in ('/', '%', '<<'):
        a, b = poly(e.left, names).constant, poly(e.right, names).constant
        if a is not None and b is not None and a >= 0 and b > 0:
            return Poly.number(a // b if e.op == '/' else a % b if e.op == '%' else a << b)
        return Poly({(f'({poly(e.left, names)} {e.op} {poly(e.right, names)})',): 1})
    if isinstance(e, Call) and isinstance(e.callee, Name) and len(e.args) == 1:
        if e.callee.name == 'static_cast' and str(e.callee.args[0]) in INTEGERS:
            return poly(e.args[0], names)
    if isinstance(e, Braces) and e.type is not None and str(e.type) in INTEGERS and len(e.items) == 1:
        return poly(e.items[0][1], names)
    if isinstance(e, Call):  # a function of values
        inner = ', '.join(str(poly(a, names)) for a in e.args)
        return Poly({(f'{show(e.callee)}({inner})',): 1})
    return Poly({(show(e),): 1})


def compare(e, names):
    """True or False of a comparison of constants; None if it is not known."""
    if isinstance(e, Binary) and e.op in ('<', '>', '<=', '>=', '==', '!='):
        a, b = poly(e.left, names).constant, poly(e.right, names).constant
        if a is not None and b is not None:
            return {'<': a < b, '>': a > b, '<=': a <= b, '>=': a >= b, '==': a == b, '!=': a != b}[e.op]
    return None
