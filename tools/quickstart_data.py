"""Inputs for tools/quickstart, and its results beside what they should be. Reads and writes .npy without numpy.

make FILE         4 ranks of 16 FP32 values
show XS YS        each rank's values in YS beside the sum over the ranks of XS; exit 1 if they differ
"""
import ast
import struct
import sys

RANKS, LENGTH = 4, 16


def write(path, rows):
    """A float32 array of shape [ranks, 1, length]."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(rows)}, 1, {len(rows[0])}), }}"
    header += ' ' * (-(10 + len(header) + 1) % 64) + '\n'
    with open(path, 'wb') as file:
        file.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) + header.encode())
        for row in rows:
            file.write(struct.pack(f'<{len(row)}f', *row))


def read(path):
    """The rows of such an array."""
    with open(path, 'rb') as file:
        assert file.read(8) == b'\x93NUMPY\x01\x00', f'{path} is no .npy file of version 1.0'
        header = ast.literal_eval(file.read(struct.unpack('<H', file.read(2))[0]).decode())
        assert header['descr'] == '<f4', f'{path} holds {header["descr"]}, not <f4'
        ranks, _, length = header['shape']
        return [struct.unpack(f'<{length}f', file.read(4 * length)) for _ in range(ranks)]


def show(inputs, outputs):
    """Prints the comparison; true if every rank has the sum."""
    expected = [sum(column) for column in zip(*inputs)]
    good = len(outputs) == len(inputs)
    for rank, row in enumerate(outputs):
        same = list(row) == expected
        good = good and same
        for label, values in (('in', inputs[rank]), ('reduced', row), ('expected', expected)):
            print(f'rank {rank} {label:>9}: ' + ' '.join(f'{v:g}' for v in values[:8]) + ' ...')
        print(f'rank {rank}: {"all " + str(len(row)) + " values as expected" if same else "WRONG"}')
    return good


def main():
    if sys.argv[1] == 'make':
        # Multiples of 1/8 so that the sum is the same in any order.
        write(sys.argv[2], [[(rank + 1) + i / 8 for i in range(LENGTH)] for rank in range(RANKS)])
    elif not show(read(sys.argv[2]), read(sys.argv[3])):
        sys.exit(1)


main()
