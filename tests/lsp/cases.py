"""What the tests of `pldc lsp` share: a program, the list of them, and a comparison."""
URI = 'file:///tmp/a.pld'
TESTS = []

PROGRAM = '''import pypto.language as pl
import pypto.language.distributed as pld

N = 64
ROWS = pl.dynamic("ROWS")


@pl.program
class Demo:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[1, N], pl.FP32], k: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[1, N], pl.FP32]]) -> pl.Tensor[[1, N], pl.FP32]:
        tile = pl.load(x, [0, 0], [1, N])
        for i, (acc,) in pl.range(4, init_values=(tile,)):
            more = pl.tile.muls(acc, k)
            result = pl.yield_(more)
        return pl.tile.store(result, [0, 0], y)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[1, N], pl.FP32], k: pl.Scalar[pl.FP32], y: pl.Out[pl.Tensor[[1, N], pl.FP32]]) -> pl.Tensor[[1, N], pl.FP32]:
        y = self.kernel(x, k, y)
        return y
'''


def test(function):
    TESTS.append(function)
    return function


def equal(found, wanted):
    assert found == wanted, f'{found!r} instead of {wanted!r}'
