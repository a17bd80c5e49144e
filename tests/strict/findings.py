"""Rules and what breaks them."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    name: str
    section: str  # of codegen.md
    allowed: str


RULES = {}


def rule(name, section, allowed):
    RULES[name] = Rule(name, section, allowed)
    return RULES[name]


rule('reads', '3', 'the C++ that the reader knows')


class Findings:
    """Collects messages `file:line: found; allowed: ... [rule, section]`, each once."""

    def __init__(self):
        self.messages = []
        self.hit = {}
        self.known = set()

    def report(self, file, line, name, found):
        made = RULES[name]
        text = f'{file}:{line}: {found}; allowed: {made.allowed} [{name}, codegen.md {made.section}]'
        if text in self.known:
            return
        self.known.add(text)
        self.messages.append(text)
        self.hit[name] = self.hit.get(name, 0) + 1
