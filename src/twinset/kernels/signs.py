"""Sums with signs taken from the bits of hashes: 64 lanes of float64, in registers from the first feature to the last."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from twinset.kernels.vector import I64, _pointer, _spread

DOUBLES = ir.VectorType(ir.DoubleType(), 8)
LANES = 64
MIX_A, MIX_B, SHIFT = 0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, 33


def _mixed(builder, x):
    """`mix` of kernels/shingles.py."""
    for factor in (MIX_A, MIX_B):
        x = builder.mul(builder.xor(x, builder.lshr(x, ir.Constant(I64, SHIFT))), ir.Constant(I64, factor))
    return builder.xor(x, builder.lshr(x, ir.Constant(I64, SHIFT)))


@intrinsic
def add_signed(typingctx, values, weights, begin, end, salt, signs, out, at):
    """For j < 64: out[at + j] = sum over begin <= i < end, in this order, of weights[i] if bit j of mix(values[i] ^ salt) is 1, else -weights[i].

    All arrays flat: values uint64, weights and out float64; signs float64, 1 or -1 for each bit of each byte: 8 to a byte, on whole lines of the cache. A sign is read
    and multiplied in the addition that it decides, which rounds once: masks take twice as long (docs/decisions/014-simhash.md).
    """

    def codegen(context, builder, signature, arguments):
        value_type, weight_type, _, _, _, sign_type, out_type, _ = signature.args
        values_at, weights_at, first, last, salted, table, target, place = arguments
        zero, groups = ir.Constant(DOUBLES, None), LANES // DOUBLES.count
        fma = cgutils.get_or_insert_function(builder.module, ir.FunctionType(DOUBLES, [DOUBLES] * 3), "llvm.fma.v8f64")
        sums = [cgutils.alloca_once_value(builder, zero) for _ in range(groups)]
        with cgutils.for_range(builder, builder.sub(last, first)) as loop:
            i = builder.add(first, loop.index)
            x = builder.load(_pointer(context, builder, value_type, values_at, i, I64))
            weight = _spread(builder, builder.load(_pointer(context, builder, weight_type, weights_at, i, ir.DoubleType())), DOUBLES)
            hashed = _mixed(builder, builder.xor(x, salted))
            for g, total in enumerate(sums):
                byte = builder.and_(builder.lshr(hashed, ir.Constant(I64, 8 * g)), ir.Constant(I64, 0xFF))
                line = _pointer(context, builder, sign_type, table, builder.mul(byte, ir.Constant(I64, DOUBLES.count)), DOUBLES)
                builder.store(builder.call(fma, [weight, builder.load(line, align=8), builder.load(total)]), total)
        for g, total in enumerate(sums):
            where = builder.add(place, ir.Constant(I64, DOUBLES.count * g))
            builder.store(builder.load(total), _pointer(context, builder, out_type, target, where, DOUBLES), align=8)
        return context.get_dummy_value()

    return types.void(values, weights, types.int64, types.int64, types.uint64, signs, out, types.int64), codegen
