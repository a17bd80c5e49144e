"""The tree and its manifest: codegen.md 6.0."""
import json
import re

from findings import rule

rule('tree', '6.0', 'manifest.json, host/host_orch.cpp, host/main.cpp, host/<stem>.h, chips/<chip>.cpp, '
     'kernels/<chip>/<kernel>.cpp: no copy of the runtime and no binary for the official target')
rule('manifest-file', '6.0', 'a manifest that lists each file of chips/ and kernels/ once, for the target ascend')
rule('manifest-id', '1.3', 'func_ids of the kernels of a chip from 0 in the order of the table')
rule('manifest-signature', '2.4', 'a signature whose tensors are args[0 .. T-1] and whose scalars follow, as the kernel unpacks them')
rule('symbol', '6.2', 'names of chips and kernels of which each symbol pldk_<chip>_<kernel> is one')

TYPES = {'FP32': 'float', 'FP16': 'half', 'BF16': 'bfloat16_t', 'INT8': 'int8_t', 'UINT8': 'uint8_t', 'INT16': 'int16_t',
         'UINT16': 'uint16_t', 'INT32': 'int32_t', 'UINT32': 'uint32_t', 'INT64': 'int64_t', 'UINT64': 'uint64_t',
         'INDEX': 'int64_t', 'BOOL': 'uint8_t', 'FP8E4M3FN': 'float8_e4m3_t', 'FP8E8M0': 'float8_e8m0_t'}


def load(tree, report):
    path = tree / 'manifest.json'
    try:
        manifest = json.loads(path.read_text())
        manifest['chips'], manifest['kernels']
    except (OSError, ValueError, KeyError) as error:
        report(path, 1, 'manifest-file', f'the manifest cannot be read ({error})')
        return None
    return manifest


def check_tree(tree, manifest, report):
    listed = [c['file'] for c in manifest['chips']] + [k['file'] for k in manifest['kernels']]
    files = sorted(p.relative_to(tree).as_posix() for p in tree.rglob('*') if p.is_file())
    for name in files:
        if not re.fullmatch(r'manifest\.json|host/(host_orch|main)\.cpp|host/\w+\.h|chips/\w+\.cpp|kernels/\w+/\w+\.cpp', name):
            report(tree / name, 1, 'tree', 'this file')
        elif name.startswith(('chips/', 'kernels/')) and listed.count(name) != 1:
            report(tree / name, 1, 'manifest-file', f'the manifest lists this file {listed.count(name)} times')
    for name in listed:
        if name not in files:
            report(tree / 'manifest.json', 1, 'manifest-file', f'{name} is listed and does not exist')
    if manifest.get('target') != 'ascend':
        report(tree / 'manifest.json', 1, 'manifest-file', f'the target is {manifest.get("target")}')
    symbols = [f'pldk_{k["chip"]}_{k["file"].split("/")[-1][:-4]}' for k in manifest['kernels']]
    symbols += [f'pldc_{c["name"]}' for c in manifest['chips']]
    for symbol in sorted({s for s in symbols if symbols.count(s) > 1}):
        report(tree / 'manifest.json', 1, 'symbol', f'{symbol} twice')
    for chip in manifest['chips']:
        ids = [k['id'] for k in manifest['kernels'] if k['chip'] == chip['name']]
        if ids != list(range(len(ids))):
            report(tree / 'manifest.json', 1, 'manifest-id', f'the kernels of {chip["name"]} have the ids {ids}')


def signature(entry):
    """{tensors, scalars, directions}, or None for a host collective, whose arguments are names only."""
    params = entry['signature']
    if any(isinstance(p, str) for p in params):
        return None
    tensors = [p for p in params if p['kind'] in ('tensor', 'window')]
    return {'tensors': len(tensors), 'scalars': len(params) - len(tensors),
            'directions': [p['direction'] for p in sorted(tensors, key=lambda p: p['arg'])]}


def check_signature(entry, kernel, file, report):
    """`report(file, line, rule, text)`"""
    made = signature(entry)
    if made is None:
        return
    params = entry['signature']
    by_arg = {}
    for p in params:
        is_tensor = p['kind'] in ('tensor', 'window')
        by_arg.setdefault(p['arg'], p)
        if is_tensor != (p['arg'] < max(made['tensors'], 1 + max([q['arg'] for q in params if q['kind'] in ('tensor', 'window')],
                                                                 default=-1))):
            report(file, 1, 'manifest-signature', f'the {p["kind"]} {p["name"]} is args[{p["arg"]}]')
    for line, kind, index, of, stmt in kernel.arguments:
        if kind not in ('tensor', 'scalar', 'context'):
            continue
        p = by_arg.get(index)
        if p is None:
            report(file, line, 'manifest-signature', f'{stmt.name} is args[{index}], which the manifest does not list')
            continue
        is_kind = {'window': 'tensor'}.get(p['kind'], p['kind'])
        wanted = TYPES.get(p.get('dtype'), '')
        if kind == 'scalar' and p.get('dtype') == 'BOOL':
            wanted = 'bool'
        if is_kind != kind or (kind != 'context' and wanted != of):
            report(file, line, 'manifest-signature', f'{stmt.name} is a {kind} of {of or "a context"}, in the manifest a '
                   f'{p["kind"]} of {p.get("dtype")}')
