"""The official side of the runtime headers: the text that PLD_TARGET_PTOISA leaves, the names that it declares, and the rules
that bind it (codegen.md 2.2 to 2.4, 3.1)."""
import re

from findings import rule

rule('abi', '2.2 and 2.3', 'sizeof(ChipTensor) == 128, sizeof(CommContext) == 1056 and the offsets of the ABI, asserted for the '
     'official headers')
rule('official-include', '3.1', '<cstdint> (or <stdint.h>) before any official header')

ABI = {'kernel.h': {('ChipTensor', None): 128, ('CommContext', None): 1056, ('ChipTensor', 'start_offset'): 24,
                    ('ChipTensor', 'shapes'): 44, ('ChipTensor', 'strides'): 72, ('CommContext', 'rankId'): 16,
                    ('CommContext', 'rankNum'): 20, ('CommContext', 'windowsIn'): 32}}


def official_side(text, defined=('PLD_TARGET_PTOISA', '__CPU_SIM')):
    """The lines that the preprocessor leaves, as (number, line). Other conditions than on names count as true."""
    out, stack = [], []
    for number, line in enumerate(text.split('\n'), 1):
        word = re.match(r'\s*#\s*(ifdef|ifndef|if|else|elif|endif)\b\s*(.*)', line)
        if not word:
            if all(stack):
                out.append((number, line))
            continue
        kind, rest = word.groups()
        rest = rest.split('//')[0].strip()
        if kind == 'ifdef':
            stack.append(rest in defined)
        elif kind == 'ifndef':
            stack.append(rest not in defined)
        elif kind == 'if':
            negated = re.fullmatch(r'!defined\((\w+)\)', rest)
            plain = re.fullmatch(r'defined\((\w+)\)', rest)
            stack.append(negated.group(1) not in defined if negated else plain.group(1) in defined if plain else True)
        elif kind == 'else':
            stack[-1] = not stack[-1]
        elif kind == 'elif':
            raise ValueError(f'line {number}: #elif is not read')
        else:
            stack.pop()
    return out


def names(text):
    """Functions, macros, types and constants that the text declares at its top."""
    found = set(re.findall(r'#define (\w+)', text))
    found |= set(re.findall(r'^(?:AICORE )?(?:inline |constexpr |static )+[\w:<>&* ]*?(\w+)\s*(?:\(|=|\{)', text, re.M))
    found |= set(re.findall(r'^(?:struct|class|enum class) (\w+)', text, re.M))
    return found


def official_names(folder, *headers):
    out = set()
    for header in headers:
        text = '\n'.join(line for _, line in official_side((folder / header).read_text()))
        out |= names(text)
    return out


def check(folder, report):
    """`report(file, line, rule, text)`"""
    for header, first in (('kernel.h', 'pto/pto-inst.hpp'), ('orch.h', 'pto_orchestration_api.h')):
        lines = official_side((folder / header).read_text())
        seen_int = False
        for number, line in lines:
            seen_int = seen_int or '<cstdint>' in line or '<stdint.h>' in line
            if first in line and not seen_int:
                report(folder / header, number, 'official-include', f'{first} before <cstdint>')
        if not any(first in line for _, line in lines):
            report(folder / header, 1, 'official-include', f'{first} is not included')
    for header, wanted in ABI.items():
        text = '\n'.join(line for _, line in official_side((folder / header).read_text()))
        found = {(t, None): int(n) for t, n in re.findall(r'sizeof\((\w+)\) == (\d+)', text)}
        found |= {(t, f): int(n) for t, f, n in re.findall(r'offsetof\((\w+), (\w+)\)\s*==\s*(\d+)', text)}
        for (struct, member), value in wanted.items():
            have = found.get((struct, member))
            if have != value:
                what = f'offset of {struct}::{member}' if member else f'size of {struct}'
                report(folder / header, 1, 'abi', f'the {what} is asserted to be {have}, not {value}')
