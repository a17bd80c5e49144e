"""Texts as string literals of C++, for tools/embed and tools/embed_examples."""

CHUNK = 8000  # compilers bound the length of one literal; adjacent ones are joined


def literal(text):
    """The text as C string literals of bounded length."""
    out = []
    for start in range(0, max(len(text), 1), CHUNK):
        piece = text[start:start + CHUNK]
        body = ''.join(
            '\\n' if c == 0x0A else '\\' + chr(c) if c in b'\\"' else chr(c) if 0x20 <= c < 0x7F and c != 0x3F
            else f'\\{c:03o}' for c in piece)
        out.append(f'    "{body}"\n')
    return ''.join(out)
