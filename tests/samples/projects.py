"""samples/make with make, ninja, meson and cmake: builds, does nothing when nothing changed, rebuilds when the .pld did.

Usage: projects.py --pldc=PATH
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# What must be installed, how the project is set up, how it is built, where the program is then.
PROJECTS = {
    'make': (['make'], None, ['make'], '.'),
    'ninja': (['ninja'], None, ['ninja'], '.'),
    'meson': (['meson', 'ninja'], ['meson', 'setup', 'out'], ['ninja', '-C', 'out'], 'out'),
    'cmake': (['cmake', 'make'], ['cmake', '-S', '.', '-B', 'out'], ['cmake', '--build', 'out'], 'out'),
}


def run(command, folder, environment):
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f'{command}: {done.stdout}{done.stderr}'
    return done.stdout


def check(project, folder, environment):
    _, setup, build, place = PROJECTS[project]
    shutil.copytree(ROOT / 'samples/make', folder)
    if setup:
        run(setup, folder, environment)
    run(build, folder, environment)
    program = folder / place / 'thrice'

    def result():
        return run([program.resolve()], folder, environment).strip()
    assert result() == '189', result()
    made = program.stat().st_mtime_ns
    run(build, folder, environment)
    assert program.stat().st_mtime_ns == made, 'it is linked again though nothing changed'
    source = folder / 'scale.pld'
    text = source.read_text()
    changed = text.replace('pl.mul(pl.load(a, [0, 0], [1, N]), k)', 'pl.mul(pl.mul(pl.load(a, [0, 0], [1, N]), k), k)')
    assert changed != text
    source.write_text(changed)
    later = source.stat().st_mtime_ns + 2_000_000_000  # some file systems count in seconds
    os.utime(source, ns=(later, later))
    run(build, folder, environment)
    assert result() == '567', result()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--pldc', required=True)
    args = parser.parse_args()
    where = str(pathlib.Path(args.pldc).resolve().parent)
    environment = {**os.environ, 'PATH': where + os.pathsep + os.environ['PATH']}
    passed = failed = 0
    for project, (tools, *_) in PROJECTS.items():
        missing = [tool for tool in tools if shutil.which(tool) is None]
        if missing:
            print(f'{missing[0]} is not installed: the project for {project} is not tried')
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(project, pathlib.Path(folder) / 'project', environment)
                passed += 1
            except AssertionError as error:
                failed += 1
                print(f'{project}: {error}')
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
