"""Sums with signs taken from the bits of hashes: 64 lanes of float64, in registers from the first feature to the last."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from twinset.kernels.vector import I1, I32, I64, _pointer, _spread

DOUBLES = ir.VectorType(ir.DoubleType(), 8)
LANES = 64
MIX_A, MIX_B, SHIFT = 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, 33


def _mixed(builder, x):
    """`mix` of kernels/shingles.py."""
    for factor in (MIX_A, MIX_B):
        x = builder.mul(builder.xor(x, builder.lshr(x, ir.Constant(I64, SHIFT))), ir.Constant(I64, factor))
    return builder.xor(x, builder.lshr(x, ir.Constant(I64, SHIFT)))


@intrinsic
def add_signed(typingctx, values, weights, begin, end, salt, out, at):
    """For j < 64: out[at + j] = sum over begin <= i < end, in this order, of weights[i] if bit j of mix(values[i] ^ salt) is 1, else -weights[i].

    All arrays flat: values uint64, weights and out float64.
    """

    def codegen(context, builder, signature, arguments):
        value_type, weight_type, _, _, _, out_type, _ = signature.args
        values_at, weights_at, first, last, salted, target, place = arguments
        zero, groups = ir.Constant(DOUBLES, None), LANES // DOUBLES.count
        sums = [cgutils.alloca_once_value(builder, zero) for _ in range(groups)]
        with cgutils.for_range(builder, builder.sub(last, first)) as loop:
            i = builder.add(first, loop.index)
            x = builder.load(_pointer(context, builder, value_type, values_at, i, I64))
            weight = builder.load(_pointer(context, builder, weight_type, weights_at, i, ir.DoubleType()))
            hashed = builder.bitcast(_mixed(builder, builder.xor(x, salted)), ir.VectorType(I1, LANES))
            plus = _spread(builder, weight, DOUBLES)
            minus = _spread(builder, builder.fneg(weight), DOUBLES)
            for g, total in enumerate(sums):
                lanes = ir.Constant(ir.VectorType(I32, DOUBLES.count), [ir.Constant(I32, DOUBLES.count * g + j) for j in range(DOUBLES.count)])
                chosen = builder.shuffle_vector(hashed, ir.Constant(hashed.type, None), lanes)
                builder.store(builder.fadd(builder.load(total), builder.select(chosen, plus, minus)), total)
        for g, total in enumerate(sums):
            where = builder.add(place, ir.Constant(I64, DOUBLES.count * g))
            builder.store(builder.load(total), _pointer(context, builder, out_type, target, where, DOUBLES), align=8)
        return context.get_dummy_value()

    return types.void(values, weights, types.int64, types.int64, types.uint64, out, types.int64), codegen
