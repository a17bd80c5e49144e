"""`meson install` into an empty root: all is there, and the headers, found through pkg-config, are enough for what pldc makes.

Usage: install.py --pldc=PATH --meson=CMD --build=DIR
"""
import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

def run(*args, **more):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, **more)
    assert done.returncode == 0, f'{args}: {done.stdout}{done.stderr}'
    return done.stdout


def files_are_there(root, prefix):
    wanted = ['bin/pldc', 'include/pldc/pld/host.h', 'include/pldc/pld/runtime.cpp', 'share/pkgconfig/pldc-runtime.pc',
              'share/zsh/site-functions/_pldc', 'share/fish/vendor_completions.d/pldc.fish',
              'share/bash-completion/completions/pldc', 'share/doc/pldc/README.md', 'share/doc/pldc/samples/allreduce.pld',
              'share/vim/vimfiles/syntax/pld.vim', 'share/vim/vimfiles/ftdetect/pld.vim', 'share/pldc/vscode/package.json']
    if shutil.which('scdoc'):
        wanted += ['share/man/man1/pldc.1', 'share/man/man5/pld.5', 'share/man/man7/pldc-passes.7']
    for name in wanted:
        assert (prefix / name).is_file() and (prefix / name).stat().st_size > 0, f'{name} is not installed'
    headers = {p.name for p in (ROOT / 'src/codegen/runtime/include/pld').iterdir()}
    assert {p.name for p in (prefix / 'include/pldc/pld').iterdir()} == headers, 'other headers than the runtime has'
    outside = [p for p in root.iterdir() if p.name != prefix.relative_to(root).parts[0]]
    assert not outside, outside


def headers_are_enough(pldc, prefix, folder, environment):
    cxx = os.environ.get('CXX', 'g++').split()
    cflags = shlex.split(run('pkg-config', '--cflags', 'pldc-runtime', env=environment))
    libs = shlex.split(run('pkg-config', '--libs', 'pldc-runtime', env=environment))
    assert f'-I{prefix}/include/pldc' in cflags and '-pthread' in libs, (cflags, libs)
    sample = ROOT / 'samples/make/scale.pld'
    emitted = folder / 'emitted'
    run(pldc, 'build', '--emit-only', sample, '-o', emitted)
    shutil.rmtree(emitted / 'include')
    sources = sorted(p for p in emitted.rglob('*.cpp'))
    assert len(sources) == 4, sources  # host, main, a chip, a kernel
    code = run('pkg-config', '--variable=code_cflags', 'pldc-runtime', env=environment).split()
    makefile = (emitted / 'Makefile').read_text()
    assert all(flag in makefile for flag in code) and '-fwrapv' in code, code
    for source in sources:
        names = (['-Daicpu_orchestration_config=c', '-Daicpu_orchestration_entry=e'] if source.parent.name == 'chips' else
                 ['-Dkernel_entry=k'] if 'kernels' in source.parts else [])
        run(*cxx, *cflags, *code, *names, '-fsyntax-only', source)
    # A main of one's own with the library.
    run(pldc, 'build', sample, '-o', folder / 'built')
    run(*cxx, *cflags, '-I', folder / 'built/host', sample.parent / 'main.cpp', folder / 'built/bin/libscale.a', *libs, '-o',
        folder / 'own')
    assert run(folder / 'own') == '189\n'


def main():
    parser = argparse.ArgumentParser()
    for name in ('--pldc', '--meson', '--build'):
        parser.add_argument(name, required=True)
    args = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name) / 'root'
        folder = pathlib.Path(name)
        run(*shlex.split(args.meson), 'install', '--no-rebuild', '-C', args.build, '--destdir', root)
        prefix = next(root.rglob('bin/pldc')).parent.parent
        environment = {**os.environ, 'PKG_CONFIG_PATH': f'{prefix}/share/pkgconfig', 'PKG_CONFIG_SYSROOT_DIR': str(root)}
        for check in (lambda: files_are_there(root, prefix),
                      lambda: headers_are_enough(args.pldc, prefix, folder, environment)):
            try:
                check()
                passed += 1
            except AssertionError as error:
                failed += 1
                print(error)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
