"""Tiles and global tensors: codegen.md 3.1 and 3.5."""
from findings import rule
from kernel import SIZES, Tile

# Bytes of the memories of a core (A2A3).
MEMORY = {'Vec': 192 << 10, 'Mat': 512 << 10, 'Left': 64 << 10, 'Right': 64 << 10, 'Acc': 128 << 10, 'Bias': 1 << 10,
          'Scaling': 4 << 10}

rule('element', '3.1', 'elements ' + ', '.join(sorted(SIZES)))
rule('vec-form', '3.1', 'Vec tiles that are NoneBox with fractal 512')
rule('mat-form', '3.1', 'Mat tiles that are boxed, Left, Right and Acc as TileLeft, TileRight, TileAcc')
rule('line', '3.1', 'rows of row-major and columns of column-major NoneBox tiles that are multiples of 32 bytes')
rule('box', '3.1', 'extents of boxed tiles that are multiples of the inner box')
rule('valid', '3.1', 'valid extents not above the physical ones; one constructor argument for each -1')
rule('column', '3.5', '[R, 1] vector tiles that are column-major')
rule('memory', '3.1', 'UB 192K, L1 512K, L0A 64K, L0B 64K, L0C 128K')
rule('address', '3.1', 'tiles at multiples of 32 bytes')
rule('assigned', '3.1', 'tiles that TASSIGN has given an address before they are used')
rule('five-axes', '3.1', 'Shape and Stride of five extents')
rule('extents-given', '3.1', 'all five extents or exactly those that are -1, given as the type says')
rule('strides', '3.1', 'strides above 0')
rule('layout', '3.5', 'ND with a last stride of 1 for matrices and rows, DN with a row stride of 1 for [R, 1] columns')


def check_tile(tile, report):
    line, size = tile.line, SIZES.get(tile.dtype)
    if size is None:
        report(line, 'element', f'{tile.name} has elements of type {tile.dtype}')
        return
    if tile.place not in MEMORY:
        report(line, 'mat-form', f'{tile.name} lies in {tile.place}')
        return
    if tile.rows <= 0 or tile.cols <= 0:
        report(line, 'valid', f'{tile.name} is [{tile.rows}, {tile.cols}]')
        return
    if tile.place in ('Left', 'Right', 'Acc') and not tile.alias:
        report(line, 'mat-form', f'{tile.name} in {tile.place} is a plain Tile')
    if tile.place == 'Vec' and (tile.boxes != 'NoneBox' or tile.fractal != 512):
        report(line, 'vec-form', f'{tile.name} has SLayout::{tile.boxes}, {tile.fractal}')
    # A bias or a row of scales waits in L1 as a plain row.
    if tile.place == 'Mat' and tile.boxes == 'NoneBox' and tile.rows != 1:
        report(line, 'mat-form', f'{tile.name} [{tile.rows}, {tile.cols}] in L1 is NoneBox')
    boxed = tile.alias or tile.boxes != 'NoneBox'
    if boxed:
        check_box(tile, size, report)
    elif tile.layout == 'RowMajor' and tile.cols * size % 32:
        report(line, 'line', f'a row of {tile.name} has {tile.cols} * {size} bytes')
    elif tile.layout == 'ColMajor' and tile.rows * size % 32:
        report(line, 'line', f'a column of {tile.name} has {tile.rows} * {size} bytes')
    if tile.place == 'Vec' and tile.cols == 1 and tile.layout == 'RowMajor':
        report(line, 'column', f'{tile.name} [{tile.rows}, 1] is row-major')
    dynamic = (tile.static_rows, tile.static_cols).count(-1)
    if tile.given != dynamic and not (tile.given == 2 and dynamic == 0):
        report(line, 'valid', f'{tile.name} has {dynamic} extents of -1 and {tile.given} arguments')
    for have, most, what in ((tile.static_rows, tile.rows, 'rows'), (tile.static_cols, tile.cols, 'columns')):
        if have > most or have < -1:
            report(line, 'valid', f'{tile.name} has {have} valid {what} of {most}')
    for at, address in tile.addresses:
        if not address.divisible(32):
            report(at, 'address', f'{tile.name} lies at {address}')
        if address.constant is not None and not 0 <= address.constant <= MEMORY[tile.place] - used(tile, size):
            report(at, 'memory', f'{tile.name} takes bytes {address.constant} to {address.constant + tile.bytes} of {tile.place}')


def used(tile, size):
    """A part of wider rows ends with its own columns."""
    if tile.static_cols > 0 and not tile.alias and tile.boxes == 'NoneBox' and tile.layout == 'RowMajor':
        return ((tile.rows - 1) * tile.cols + tile.static_cols) * size
    return tile.bytes


def check_box(tile, size, report):
    """An inner box has 16 rows of 32 bytes; Acc has boxes of 16 by 16."""
    line = max(1, 32 // size)
    across = tile.place == 'Right' or tile.boxes == 'ColMajor'  # the lines of a box are columns
    rows, cols = (line, 16) if across else (16, line)
    if tile.place == 'Acc':
        rows, cols = 16, 16
    if tile.fractal != 512:
        report(tile.line, 'box', f'{tile.name} has boxes of {tile.fractal} bytes')
    if tile.rows % rows or tile.cols % cols:
        report(tile.line, 'box', f'{tile.name} is [{tile.rows}, {tile.cols}] with boxes of [{rows}, {cols}]')


def check_global(g, report):
    for i, stride in enumerate(g.stride):
        if stride.constant is not None and stride.constant <= 0:
            report(g.line, 'strides', f'stride {i} of {g.name} is {stride}')
    if g.dtype not in SIZES:
        report(g.line, 'element', f'{g.name} has elements of type {g.dtype}')
    if g.signal:
        return
    one = 1
    if g.layout == 'ND':
        if g.stride[4].constant != one and g.shape[4].constant != one:
            report(g.line, 'layout', f'{g.name} is ND with a last stride of {g.stride[4]}')
    elif g.layout == 'DN':
        if g.shape[4].constant != one:
            report(g.line, 'layout', f'{g.name} is DN with {g.shape[4]} columns')
        elif g.stride[3].constant != one and g.shape[3].constant != one:
            report(g.line, 'layout', f'{g.name} is DN with a row stride of {g.stride[3]}')
    else:
        report(g.line, 'layout', f'{g.name} is {g.layout}')


def check(kernel, report):
    for tile in kernel.tiles:
        check_tile(tile, report)
    for g in kernel.globals:
        check_global(g, report)
    assigned = set()
    for step in kernel.instructions:
        if step.name == 'TASSIGN':
            assigned.update(id(o) for o in step.operands[:1])
            continue
        for o in step.operands:
            if isinstance(o, Tile) and id(o) not in assigned and step.name != '.SetValidShape':
                report(step.line, 'assigned', f'{step.name} uses {o.name}, which has no address yet')
