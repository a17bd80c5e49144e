"""Includes, the entry, its arguments and names: codegen.md 1.4, 2.3, 2.4, 3.1, 6.0."""
import re

from findings import rule
from syntax import Alias, Declare, Member, Name, calls, expressions, show, statements, walk

rule('kernel-include', '6.0', '"pld/kernel.h" (host collectives: "pld/collectives.h") and nothing else')
rule('entry', '2.4', 'one function: extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args)')
rule('argument-order', '2.4', 'tensors in args[0 .. T-1], scalars in args[T .. T+S-1]')
rule('argument-count', '2.3', '32 tensors and 16 scalars')
rule('identity', '2.4', 'get_block_idx(args), get_block_num(args), get_sub_block_id(args)')
rule('name', '6.0', 'names of variables that are none of the library, begin with a letter and hold no "__"')
rule('known-name', '6.0', 'what the official headers and the official side of pld/kernel.h declare')
rule('file-scope', '2.4', 'only kernel_entry and "using namespace pto" at file scope')

# The official library, as 1.3, 1.4, 2.3, 2.4 and 3 name it.
OFFICIAL = set('''pto comm Tile TileLeft TileRight TileAcc TileType GlobalTensor Shape Stride Layout BLayout SLayout PadValue
CompactMode RoundMode SaturationMode CmpMode AtomicType MaskPattern GatherMode GatherOOB NotifyOp WaitCmp Signal half bfloat16_t
float8_e4m3_t float8_e8m0_t set_flag wait_flag pipe_barrier PIPE_S PIPE_V PIPE_M PIPE_MTE1 PIPE_MTE2 PIPE_MTE3 PIPE_FIX PIPE_ALL
ChipTensor CommContext LocalContext GlobalContext get_block_idx get_block_num get_sub_block_id kernel_entry
pld_arg pld_peer'''.split()) | {f'EVENT_ID{i}' for i in range(8)}
ACCESSORS = {'get_block_idx': 'args', 'get_block_num': 'args', 'get_sub_block_id': 'args'}
CCE = ('get_block_idx', 'get_block_num', 'get_subblockid', 'get_sub_block_id', 'get_subblockdim')
PLAIN = {'static_cast', 'reinterpret_cast', 'decltype', 'int64_t', 'int32_t', 'uint64_t', 'uint32_t', 'int16_t', 'int8_t',
         'uint8_t', 'uint16_t', 'int', 'bool', 'float', 'void', 'auto', 'true', 'false', 'nullptr', 'long long'}


def check_names(unit, function, known, report, file_level=()):
    """`known`: names of the library that may be used; the others must be declared here."""
    declared = set(file_level) | {name for _, name in function.params}
    for stmt in statements(function.body):
        if isinstance(stmt, Declare):
            if not re.fullmatch(r'[A-Za-z][A-Za-z0-9_]*', stmt.name) or '__' in stmt.name:
                report(stmt.line, 'name', f'the variable {stmt.name}')
            elif stmt.name in OFFICIAL or stmt.name in known:
                report(stmt.line, 'name', f'the variable {stmt.name} hides a name of the library')
            declared.add(stmt.name)
        elif isinstance(stmt, Alias):
            declared.add(stmt.name)
    for stmt in statements(function.body):
        for e in expressions(stmt):
            for part in walk(e):
                name = getattr(part, 'name', None)
                if isinstance(part, Member) or not isinstance(name, str):
                    continue
                first = name.removeprefix('::').split('::')[0]
                if first not in declared and first not in known and first not in PLAIN:
                    report(part.line, 'known-name', f'{name} is used')


def check_entry(unit, report, entry='kernel_entry'):
    if unit.file.endswith('.cpp'):
        names = [n for _, n in unit.includes]
        line = unit.includes[0][0] if unit.includes else 1
        if names not in (['"pld/kernel.h"'], ['"pld/collectives.h"'], ['"abi.hpp"']):
            report(line, 'kernel-include', f'the file includes {", ".join(names) or "nothing"}')
    for line, text in unit.directives:
        if not re.fullmatch(r'#line \d+ ".*"', text):
            report(line, 'file-scope', text)
    for line, name in unit.using:
        if name != 'pto':
            report(line, 'file-scope', f'using namespace {name}')
    for f in unit.functions[1:]:
        report(f.line, 'file-scope', f'the function {f.name}')
    if not unit.functions:
        report(1, 'entry', 'the file has no function')
        return None
    f = unit.functions[0]
    params = [str(t) for t, _ in f.params]
    if (f.name != entry or f.qualifiers != ('extern', '"C"', '__aicore__') or str(f.type) != 'void'
            or params != ['__gm__ int64_t*']):
        report(f.line, 'entry', f'{" ".join(f.qualifiers)} {f.type} {f.name}({", ".join(params)})')
        return None
    return f


def check_arguments(kernel, tensors, scalars, report):
    """`tensors`, `scalars`: how many there are; None: not known, then from the kernel itself."""
    seen_tensor = [a for a in kernel.arguments if a[1] in ('tensor', 'dim', 'stride')]
    seen_scalar = [a for a in kernel.arguments if a[1] in ('scalar', 'context')]
    if tensors is None:
        tensors = 1 + max([a[2] for a in seen_tensor if a[2] is not None], default=-1)
        scalars = 1 + max([a[2] - tensors for a in seen_scalar if a[2] is not None], default=-1)
    for line, kind, index, _, stmt in kernel.arguments:
        low, high = (0, tensors) if kind in ('tensor', 'dim', 'stride') else (tensors, tensors + scalars)
        if index is None or not low <= index < high:
            report(line, 'argument-order', f'{stmt.name} is the {kind} args[{index}] of {tensors} tensors and {scalars} scalars')
    if tensors > 32 or scalars > 16:
        report(kernel.function.line, 'argument-count', f'{tensors} tensors and {scalars} scalars')
    for stmt, call in calls(kernel.function.body):
        name = call.callee.name if isinstance(call.callee, Name) else ''
        if name in CCE and (name not in ACCESSORS or [show(a) for a in call.args] != ['args']):
            report(call.line, 'identity', f'{show(call)}')
