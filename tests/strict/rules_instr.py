"""Instructions: names, operands, layouts, transfers, the core that executes them. codegen.md 3.2, 3.3, 3.5 and 2.5."""
from findings import rule
from kernel import CUBE, Global, Tile
from syntax import Name, Number, Type, show
from values import Poly, poly

rule('instruction', '3.2', 'the instructions of the tile library')
rule('operands', '3.2', 'the destination first, then the operands as the instruction takes them')
rule('enumeration', '1.5 and 3.2', 'values of the enumerations by their names')
rule('row-major', '3.5', 'row-major operands of elementwise instructions')
rule('reduce-column', '3.5', 'TROWSUM and its kin write, TROWEXPAND and its kin read a column-major [R, 1] tile; the result of '
     'TROWEXPAND is row-major')
rule('dtypes', '3.2', 'operands of one element type, but for conversions, masks and indices')
rule('matmul-alias', '3.5', 'TileAcc, TileLeft and TileRight with equal static M, K, N')
rule('matmul-dtype', '3.2', 'f16, bf16 and f32 into f32, s8 into s32')
rule('scratch', '3.2', 'a scratch operand that shares no memory with the other operands')
rule('path', '3.4', 'GM to UB or L1, L1 to L0, UB to GM, L0C out')
rule('core', '2.5', 'kernels for one kind of core: the vector core with UB, or the cube core with L1 and L0')
rule('transfer-shape', '3.5', 'a GlobalTensor of the valid shape of the tile')
rule('transfer-layout', '3.5', 'ND for row-major tiles, DN for [R, 1] columns')
rule('transfer-dtype', '3.2', 'a GlobalTensor and a tile of one element type (Acc leaves through FIX, which converts)')
rule('atomic', '3.2', 'TSTORE<Tile, G, AtomicType::AtomicAdd> with the types of its operands')
rule('stage', '3.3', 'a staging tile in UB of the type of the transfer whose static valid extents divide its box')
rule('box', '3.3', 'boxes of one shape on both sides')
rule('signal', '3.3', 'signals as comm::Signal, an int32 value, operations and comparisons by their names')

# Kinds of operands: t a tile, m a tile of another type (mask, index, scratch), g a GlobalTensor, s a scalar, b true or
# false, e an enumeration value; "?" makes the ones after it optional. Flags: e elementwise (row-major, one type).
TABLE = {}


def put(names, kinds, flags=''):
    for name in names.split():
        TABLE.setdefault(name, []).append((kinds, flags))


put('TADD TSUB TMUL TDIV TMAX TMIN TAND TOR TSHL TSHR TFMOD', 'ttt', 'e')
put('TREM TXOR TPRELU', 'tttm', 'et')
put('TADDS TSUBS TMULS TDIVS TMAXS TMINS TANDS TORS TLRELU TFMODS TSHLS TSHRS', 'tts', 'e')
put('TDIVS', 'tst', 'e')
put('TREMS TXORS', 'ttsm', 'et')
put('TEXP TLOG TSQRT TRECIP TABS TNEG TRELU TNOT', 'tt', 'e')
put('TRSQRT', 'tt?m', 'et')
put('TEXPANDS', 'ts', 'e')
put('TPARTADD TPARTMUL TPARTMAX TPARTMIN', 'ttt', 'e')
put('TCVT', 'tm E?E', 'r')
put('TROWSUM TROWMAX TROWMIN TROWPROD', 'ttm', 'ct')
put('TROWARGMAX TROWARGMIN', 'mtm', 'ct')
put('TCOLSUM', 'tt', 'd')
put('TCOLSUM', 'ttmb', 'dt')
put('TCOLMAX TCOLMIN TCOLPROD', 'tt', 'd')
put('TCOLARGMAX TCOLARGMIN', 'mtm', 't')
put('TROWEXPAND', 'tt', 'x')
put('TCOLEXPAND', 'tt', 'd')
for op in 'ADD SUB MUL DIV MAX MIN EXPDIF'.split():
    put('TROWEXPAND' + op, 'ttt', 'x')
    put('TCOLEXPAND' + op, 'ttt', 'd')
put('TCMP', 'mttE')
put('TCMPS', 'mtsE')
put('TSEL', 'tmttm', 't')
put('TSELS', 'tmtms', 't')
put('TCI', 'ts?b')
put('TFILLPAD TFILLPAD_INPLACE TFILLPAD_EXPAND', 'tt', 'd')
put('TMOV TRESHAPE', 'tm')
put('TEXTRACT TINSERT', 'tmss')
put('TTRANS', 'ttm', 'dt')
put('TCONCAT', 'ttt', 'd')
put('TGATHER', 'tmm?m')
put('TGATHER', 'tt')
put('TGATHERB', 'tmm')
put('TSCATTER', 'ttm', 'd')
put('TSCATTER', 'tt')
put('TSORT32', 'ttm')
put('TMRGSORT', 'tts')
put('TMATMUL TGEMV', 'amm')
put('TMATMUL_ACC TGEMV_ACC', 'aamm')
put('TMATMUL_BIAS TGEMV_BIAS', 'ammm')
put('TLOAD', 'tg')
put('TSTORE', 'gt')
put('MGATHER', 'tgm')
put('MSCATTER', 'gtm')
put('comm::TPUT comm::TGET', 'ggt?t')
put('comm::TNOTIFY', 'gsE')
put('comm::TWAIT comm::TTEST', 'gsE')
put('TASSIGN', 'ts')
put('.SetValidShape', 'ss')
put('.GetValue', 's')
put('.SetValue', 'ss')

ENUMERATIONS = {
    'RoundMode': 'CAST_NONE CAST_RINT CAST_ROUND CAST_FLOOR CAST_CEIL CAST_TRUNC CAST_ODD', 'SaturationMode': 'OFF ON',
    'CmpMode': 'EQ NE LT LE GT GE', 'AtomicType': 'AtomicNone AtomicAdd', 'comm::NotifyOp': 'AtomicAdd Set',
    'comm::WaitCmp': 'EQ NE GT GE LT LE', 'MaskPattern': 'P0101 P1010 P0001 P0010 P0100 P1000 P1111',
    'GatherMode': 'Row Elem', 'GatherOOB': 'Undefined Clamp Wrap Zero'}
TAKES = {'TCVT': ('RoundMode', 'SaturationMode'), 'TCMP': ('CmpMode',), 'TCMPS': ('CmpMode',),
         'comm::TNOTIFY': ('comm::NotifyOp',), 'comm::TWAIT': ('comm::WaitCmp',), 'comm::TTEST': ('comm::WaitCmp',)}
MATMUL = {('float', 'half'), ('float', 'bfloat16_t'), ('float', 'float'), ('int32_t', 'int8_t')}


def is_instruction(name):
    return name in TABLE or (name.split('::')[-1][:1] in 'TM' and name.split('::')[-1].isupper()) or name.startswith('.')


def enumerator(e):
    name = show(e).removeprefix('pto::')
    of, _, value = name.rpartition('::')
    return of if value in ENUMERATIONS.get(of, '').split() else None


def matches(kinds, step):
    """The problem of the first operand that does not fit; '' if all fit."""
    kinds = kinds.replace(' ', '')
    needed = kinds.split('?')[0]
    kinds = kinds.replace('?', '')
    if not len(needed) <= len(step.args) <= len(kinds):
        return f'{step.name} has {len(step.args)} operands'
    for kind, e, operand in zip(kinds, step.args, step.operands if not step.name.startswith('.') else [None] * 9):
        wanted = Tile if kind in 'tma' else Global if kind == 'g' else None
        if wanted is not None and not isinstance(operand, wanted):
            return f'{step.name} takes {show(e)} where {"a tile" if wanted is Tile else "a GlobalTensor"} is expected'
        if wanted is None and isinstance(operand, (Tile, Global)):
            return f'{step.name} takes {show(e)} where a scalar is expected'
        if kind == 'b' and show(e) not in ('true', 'false'):
            return f'{step.name} takes {show(e)} where true or false is expected'
    return ''


def pipe_of(step):
    """The pipe that executes the instruction; None for what is no instruction of a pipe."""
    name, tiles = step.name, [o for o in step.operands if isinstance(o, Tile)]
    if name == 'TLOAD':
        return 'PIPE_MTE2'
    if name == 'TSTORE':
        return 'PIPE_FIX' if tiles and tiles[0].place == 'Acc' else 'PIPE_MTE3'
    if name in ('MGATHER', 'MSCATTER'):
        return 'PIPE_MTE2' if name == 'MGATHER' else 'PIPE_MTE3'
    if name.startswith(('TMATMUL', 'TGEMV')):
        return 'PIPE_M'
    if name in ('.GetValue', '.SetValue', 'pld_read', 'pld_write'):
        return 'PIPE_S'
    if name.startswith(('.', 'comm::', 'TASSIGN')) or name not in TABLE:
        return None
    if len(tiles) > 1 and tiles[1].place == 'Acc':
        return 'PIPE_FIX'
    if len(tiles) > 1 and tiles[1].place == 'Mat':
        return 'PIPE_MTE1'
    if len(tiles) > 1 and tiles[1].place == 'Vec' and tiles[0].place != 'Vec':
        return 'PIPE_MTE3'
    return 'PIPE_V'


PATHS = {('Vec', 'Vec'), ('Mat', 'Left'), ('Mat', 'Right'), ('Mat', 'Bias'), ('Mat', 'Scaling'), ('Acc', 'Mat'), ('Acc', 'Vec')}


def check_path(step, report):
    tiles = [o for o in step.operands if isinstance(o, Tile)]
    if step.name in ('TMOV', 'TEXTRACT', 'TINSERT') and len(tiles) > 1:
        pair = (tiles[1].place, tiles[0].place)
        if pair not in PATHS:
            report(step.line, 'path', f'{step.name} goes from {pair[0]} to {pair[1]}')
    elif step.name == 'TLOAD' and tiles and tiles[0].place not in ('Vec', 'Mat'):
        report(step.line, 'path', f'TLOAD goes from GM to {tiles[0].place}')
    elif step.name == 'TSTORE' and tiles and tiles[0].place not in ('Vec', 'Acc'):
        report(step.line, 'path', f'TSTORE goes from {tiles[0].place} to GM')
    elif pipe_of(step) in ('PIPE_V', 'PIPE_MTE1') and step.name not in ('TMOV', 'TEXTRACT', 'TINSERT', 'TRESHAPE'):
        for t in tiles:
            if t.place != 'Vec':
                report(step.line, 'path', f'{step.name} works on {t.name} in {t.place}')


def overlap(a, b):
    (p, x, y), (q, u, v) = a.region(), b.region()
    return p == q and x < v and u < y


def check_transfer(step, report):
    g, tile = (step.operands[1], step.operands[0]) if step.name == 'TLOAD' else (step.operands[0], step.operands[1])
    valid = step.valids[0 if step.name == 'TLOAD' else 1]
    if tile.is_column and tile.static_cols == 1:
        if g.layout != 'DN':
            report(step.line, 'transfer-layout', f'{step.name} of the column {tile.name} with {g.name}, which is {g.layout}')
        rows, cols = g.shape[3], g.shape[0] * g.shape[1] * g.shape[2] * g.shape[4]
    else:
        if g.layout != 'ND':
            report(step.line, 'transfer-layout', f'{step.name} of {tile.name}, no column, with {g.name}, which is {g.layout}')
        if tile.place == 'Vec' and tile.layout != 'RowMajor':
            report(step.line, 'transfer-layout', f'{step.name} of {tile.name}, which is column-major with {tile.cols} columns')
        rows, cols = g.shape[0] * g.shape[1] * g.shape[2] * g.shape[3], g.shape[4]
    for have, want, what in ((rows, valid[0], 'rows'), (cols, valid[1], 'columns')):
        if want is None or have != want:
            report(step.line, 'transfer-shape',
                   f'{step.name}: {g.name} has {have} {what}, {tile.name} has {"unknown" if want is None else want} valid ones')
    if g.dtype != tile.dtype and tile.place != 'Acc':
        report(step.line, 'transfer-dtype', f'{step.name}: {g.name} is {g.dtype}, {tile.name} is {tile.dtype}')
    if step.name == 'TSTORE' and step.targs:
        texts = [show(a) for a in step.targs]
        good = [f'decltype<{tile.name}>', f'decltype<{g.name}>', 'AtomicType::AtomicAdd']
        if [t.replace('AtomicType::AtomicNone', 'AtomicType::AtomicAdd') for t in texts] != good:
            report(step.line, 'atomic', f'TSTORE<{", ".join(texts)}> of {tile.name} to {g.name}')


def check_stage(step, report):
    to, source = step.operands[:2]
    for a in step.targs:
        if enumerator(a) != 'AtomicType':
            report(step.line, 'enumeration', f'{step.name} has the template argument {show(a)}')
    if to.shape != source.shape:
        report(step.line, 'box', f'{to.name} is [{", ".join(map(str, to.shape))}], {source.name} is '
               f'[{", ".join(map(str, source.shape))}]')
    if to.layout != 'ND' or source.layout != 'ND':
        report(step.line, 'transfer-layout', f'{step.name} between {to.layout} and {source.layout}')
    for tile in step.operands[2:]:
        if tile.place != 'Vec' or tile.dtype != to.dtype or source.dtype != to.dtype:
            report(step.line, 'stage', f'{tile.name} is {tile.dtype} in {tile.place} for {to.dtype} from {source.dtype}')
        if not tile.row_major:
            report(step.line, 'stage', f'{tile.name} is not row-major')
        rows = to.shape[3]  # the axes before it are loops
        for have, extent, what in ((tile.static_rows, rows, 'rows'), (tile.static_cols, to.shape[4], 'columns')):
            if have > 0 and not extent.divisible(have):
                report(step.line, 'stage', f'{have} valid {what} of {tile.name} do not divide {extent}')


def check_signal(step, report):
    cell = step.operands[0]
    if not cell.signal:
        report(step.line, 'signal', f'{step.name} takes {cell.name}, a {cell.dtype} GlobalTensor')


def check_product(step, report):
    acc, tiles = step.operands[0], step.operands[-2:]
    bias = None
    if step.name.endswith('_BIAS'):
        tiles, bias = step.operands[1:3], step.operands[3]
    left, right = tiles
    for tile, place in ((acc, 'Acc'), (left, 'Left'), (right, 'Right')):
        if tile.place != place or not tile.alias:
            report(step.line, 'matmul-alias', f'{step.name} takes {tile.name} in {tile.place} as {place}')
    if step.name.endswith('_ACC') and step.operands[0] is not step.operands[1]:
        report(step.line, 'matmul-alias', f'{step.name} adds to {step.operands[1].name} and writes {acc.name}')
    valid = [tuple(t.static_rows if i == 0 else t.static_cols for i in (0, 1)) for t in (acc, left, right)]
    (m, n), (ml, k), (kr, nr) = valid
    if m != ml or n != nr or k != kr:
        report(step.line, 'matmul-alias', f'{step.name} of [{ml}, {k}] and [{kr}, {nr}] into [{m}, {n}]')
    if bias is not None and (bias.place != 'Bias' or bias.static_cols != n or bias.static_rows != 1):
        report(step.line, 'matmul-alias', f'{step.name} takes {bias.name} [{bias.rows}, {bias.cols}] in {bias.place} as bias')
    if (acc.dtype, left.dtype) not in MATMUL or left.dtype != right.dtype:
        report(step.line, 'matmul-dtype', f'{step.name} of {left.dtype} and {right.dtype} into {acc.dtype}')


def check_vector(step, kinds, flags, report):
    tiles = [o for o in step.operands if isinstance(o, Tile)]
    kinds = kinds.replace(' ', '').replace('?', '')
    plain = [o for k, o in zip(kinds, step.operands) if k == 't' and isinstance(o, Tile)]
    if 'e' in flags or 'r' in flags:
        for t in tiles:
            if not t.row_major:
                report(step.line, 'row-major', f'{step.name} takes {t.name}, which is {t.layout}')
    if len({t.dtype for t in plain}) > 1 and set(flags) & set('edcx'):
        report(step.line, 'dtypes', f'{step.name} of {", ".join(f"{t.name} {t.dtype}" for t in plain)}')
    if 'c' in flags and not tiles[0].is_column:
        report(step.line, 'reduce-column', f'{step.name} writes {tiles[0].name} [{tiles[0].rows}, {tiles[0].cols}] '
               f'{tiles[0].layout}')
    if 'x' in flags:
        if not tiles[0].row_major:
            report(step.line, 'reduce-column', f'{step.name} writes {tiles[0].name}, which is {tiles[0].layout}')
        last = tiles[-1]
        if not last.is_column and last.cols * 1 != 32 // max(1, {'float': 4, 'half': 2}.get(last.dtype, 32)):
            report(step.line, 'reduce-column', f'{step.name} reads {last.name} [{last.rows}, {last.cols}] {last.layout}')
    if 't' in flags:
        at = kinds.rfind('m')
        tmp = step.operands[at] if at < len(step.operands) else None
        for o in tiles:
            if isinstance(tmp, Tile) and o is not tmp and overlap(tmp, o) or (o is tmp and tiles.count(tmp) > 1):
                report(step.line, 'scratch', f'{step.name}: the scratch tile {tmp.name} shares memory with {o.name}')
                break


def check(kernel, core, report):
    cores = {}
    for step in kernel.instructions:
        if not is_instruction(step.name):
            continue
        if step.name not in TABLE:
            report(step.line, 'instruction', f'{step.name} is none')
            continue
        problem = ''
        for kinds, flags in TABLE[step.name]:
            problem = matches(kinds, step)
            if not problem:
                break
        if problem:
            report(step.line, 'operands', problem)
            continue
        for kind, e in zip([k for k in kinds if k == 'E'], [a for a, k in zip(step.args, kinds.replace(' ', '').replace('?', ''))
                                                            if k == 'E']):
            if enumerator(e) not in TAKES.get(step.name, ()):
                report(step.line, 'enumeration', f'{step.name} takes {show(e)}')
        if step.name in ('TLOAD', 'TSTORE'):
            check_transfer(step, report)
        elif step.name in ('comm::TPUT', 'comm::TGET'):
            check_stage(step, report)
        elif step.name.startswith('comm::'):
            check_signal(step, report)
        elif step.name.startswith(('TMATMUL', 'TGEMV')):
            check_product(step, report)
        else:
            check_vector(step, kinds, flags, report)
        check_path(step, report)
        for o in step.operands:
            if isinstance(o, Tile):
                cores.setdefault('aic' if o.place in CUBE else 'aiv', (step.line, step.name, o))
    for kind, (line, name, tile) in cores.items():
        if core is not None and kind != core:
            report(line, 'core', f'{name} of {tile.name} in {tile.place} in a kernel that runs on {core}')
        elif core is None and len(cores) > 1:
            report(line, 'core', f'{name} of {tile.name} in {tile.place} beside instructions of the other core')
