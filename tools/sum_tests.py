"""Adds up the test cases of all test programs from meson's testlog.json; prints `N passed, N failed`."""
import json
import re
import sys

CLOSING = re.compile(r'^(\d+) passed, (\d+) failed$', re.M)


def main():
    passed = failed = 0
    with open(sys.argv[1], encoding='utf-8') as log:
        for line in log:
            test = json.loads(line)
            closing = CLOSING.findall(test.get('stdout') or '')
            good, bad = (int(n) for n in closing[-1]) if closing else (0, 0)
            # A program that ended badly without saying which case failed counts as one.
            if test['result'] not in ('OK', 'SKIP') and bad == 0:
                bad = 1
                print(f'{test["name"]}: {test["result"]}')
            if test['result'] == 'OK' and not closing:
                good = 1
            passed += good
            failed += bad
    if passed + failed == 0:
        failed = 1  # no test at all is no success
    print(f'{passed} passed, {failed} failed')
    sys.exit(1 if failed else 0)


main()
