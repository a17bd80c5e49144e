"""What an editor asks of `pldc lsp`, and what a broken or hostile one sends.

Usage: lsp.py --pldc=PATH [NAME...]
"""
import argparse
import sys
import time
import traceback

import editor  # noqa: F401  its tests are listed in TESTS
import hostile  # noqa: F401
from cases import TESTS
from client import Closed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--pldc', required=True)
    parser.add_argument('names', nargs='*')
    args = parser.parse_args()
    passed = failed = 0
    for one in TESTS:
        if args.names and one.__name__ not in args.names:
            continue
        try:
            begin = time.monotonic()
            one(args.pldc)
            passed += 1
            if args.names:
                print(f'{one.__name__}: {time.monotonic() - begin:.2f} s')
        except (AssertionError, Closed, KeyError, IndexError, TypeError, ValueError):
            failed += 1
            print(f'{one.__name__} failed:')
            traceback.print_exc(file=sys.stdout)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
