"""The completions, run in the shells they are for: what does each offer for a command line?

Usage: completions.py --pldc=PATH

A shell that is not installed is left out with a line that says so. Where a terminal is needed (zsh) there is a pseudo-terminal.
"""
import argparse
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

# What is typed, what must be offered, what must not.
CASES = [
    ('pldc ro', {'roundtrip'}, {'run', 'build'}),
    ('pldc re', {'reduce', 'replay'}, {'run'}),
    ('pldc build --emit-o', {'--emit-only'}, {'--emit'}),
    ('pldc check --ra', {'--ranks'}, {'--repeat'}),
    ('pldc --dump-after=Simpl', {'Simplify'}, {'UnrollLoops'}),
    ('pldc build --stop-after=Unro', {'UnrollLoops'}, {'Simplify'}),
    ('pldc check --dialect=', {'dump', 'legacy'}, {'text'}),
    ('pldc list pas', {'passes'}, {'ops'}),
    ('pldc explain tile.loa', {'tile.load'}, {'tile.store'}),
    ('pldc explain PLD040', {'PLD0401'}, {'PLD0902', 'Simplify'}),
    ('pldc check -W no-comment', {'no-comment_dropped'}, {'comment_dropped', 'no-no_effect'}),
    ('pldc completions f', {'fish'}, {'bash', 'zsh'}),
    ('pldc fmt some', {'some_program.pld'}, {'build'}),
    ('pldc roundtrip --style=con', {'concise'}, {'printed'}),
]


def bash(script, folder, line):
    words = line.split(' ')
    # As readline breaks words.
    broken = [part for word in words for part in (re.split('(=)', word) if '=' in word else [word])]
    broken = [part for i, part in enumerate(broken) if part or i == len(broken) - 1]
    listed = ' '.join(f"'{word}'" for word in broken)
    text = f'''. "{script}"; compopt() {{ :; }}
COMP_WORDS=({listed}); COMP_CWORD={len(broken) - 1}; COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}
_pldc; printf '%s\\n' "${{COMPREPLY[@]}}"'''
    done = subprocess.run(['bash', '--norc', '-c', text], capture_output=True, text=True, cwd=folder, check=True)
    assert not done.stderr, done.stderr
    return done.stdout.split('\n')


def fish(script, folder, line):
    environment = {**os.environ, 'HOME': str(folder), 'XDG_CONFIG_HOME': str(folder / 'config')}
    done = subprocess.run(['fish', '--no-config', '-c', f'source "{script}"; complete -C "{line}"'], capture_output=True,
                          text=True, cwd=folder, env=environment, check=True)
    return [offer.split('\t')[0] for offer in done.stdout.split('\n')]


def zsh(script, folder, line):
    """zsh completes on a terminal only: lists the matches there, and reads them off it."""
    functions = folder / 'functions'
    functions.mkdir(exist_ok=True)
    shutil.copy(script, functions / '_pldc')
    (folder / '.zshrc').write_text(f'''fpath=({functions} $fpath)
autoload -Uz compinit && compinit -u -D
zstyle ':completion:*' list-prompt ''
setopt no_beep no_always_last_prompt bash_auto_list no_list_packed
LISTMAX=10000
bindkey '^T' list-choices
PS1='ready> '
''')
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ.update(ZDOTDIR=str(folder), TERM='dumb', COLUMNS='200', LINES='200')
        os.execvp('zsh', ['zsh', '-i'])
    seen = b''

    def read(until, quiet):
        nonlocal seen
        end = time.monotonic() + 20
        while time.monotonic() < end:
            ready, _, _ = select.select([terminal], [], [], quiet)
            if ready:
                try:
                    seen += os.read(terminal, 65536)
                except OSError:
                    return
            elif until in seen:
                return
    read(b'ready> ', 0.2)
    seen = b''
    os.write(terminal, line.encode() + b'\x14')
    read(line.split()[-1].encode(), 0.7)
    offered = re.sub(r'\x1b\[[0-9;?]*[A-Za-z]', '', seen.decode('utf-8', 'replace'))
    os.write(terminal, b'\x15exit\n')
    os.close(terminal)
    os.waitpid(pid, 0)
    offered = offered.replace(line, '', 1)
    return [word.rstrip('=') for word in re.split(r'\s+', offered)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--pldc', required=True)
    args = parser.parse_args()
    passed = failed = 0
    for name, complete in (('bash', bash), ('fish', fish), ('zsh', zsh)):
        if shutil.which(name) is None:
            print(f'{name} is not installed: its completions are not tried')
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            (folder / 'some_program.pld').touch()
            script = folder / 'script'
            script.write_bytes(subprocess.run([args.pldc, 'completions', name], capture_output=True, check=True).stdout)
            for line, wanted, unwanted in CASES:
                # fish and bash may offer `--name=value` for a value.
                offered = {word.strip().rstrip('=') for word in complete(script, folder, line)}
                offered |= {word.split('=', 1)[1] for word in offered if '=' in word}
                missing, surplus = wanted - offered, unwanted & offered
                if missing or surplus:
                    failed += 1
                    print(f'{name}: `{line}` lacks {sorted(missing)}, wrongly has {sorted(surplus)}, offers {sorted(offered)[:12]}')
                else:
                    passed += 1
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
