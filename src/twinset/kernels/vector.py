"""Single machine operations that Numba does not spell by itself: unaligned loads, byte masks, bit counts, blocks of lanes.

Vectors are written with their full width, because LLVM otherwise prefers half-width registers on machines that have 512 bits;
on any other machine it splits them. Reads and writes are not checked: the caller keeps them inside the array.
"""

from functools import reduce

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

BYTES = ir.VectorType(ir.IntType(8), 64)
I1, I32, I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
WORDS = ir.VectorType(I64, 8)


def _pointer(context, builder, array_type, array, index, element):
    """The address of `array[index]`, as a pointer to `element`."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), element.as_pointer())


def _splat(value, vector):
    return ir.Constant(vector, [ir.Constant(vector.element, value)] * vector.count)


def _spread(builder, value, vector):
    """A vector with `value` in every lane."""
    order = ir.Constant(ir.VectorType(I32, vector.count), [ir.Constant(I32, 0)] * vector.count)
    empty = ir.Constant(vector, None)
    return builder.shuffle_vector(builder.insert_element(empty, value, ir.Constant(I32, 0)), empty, order)


@intrinsic
def load_word(typingctx, array, index):
    """The eight bytes of a uint8 array from `index` on, as a little-endian uint64."""

    def codegen(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature.args[0], *arguments, I64)
        return builder.load(pointer, align=1)

    return types.uint64(array, types.int64), codegen


@intrinsic
def token_mask(typingctx, array, index):
    """One bit for each of the 64 bytes of a uint8 array from `index` on: 1 for ASCII letters, ASCII digits and bytes from 0x80 up."""

    def codegen(context, builder, signature, arguments):
        block = builder.load(_pointer(context, builder, signature.args[0], *arguments, BYTES), align=1)
        letter = builder.icmp_unsigned("<", builder.sub(builder.or_(block, _splat(0x20, BYTES)), _splat(ord("a"), BYTES)), _splat(26, BYTES))
        digit = builder.icmp_unsigned("<", builder.sub(block, _splat(ord("0"), BYTES)), _splat(10, BYTES))
        high = builder.icmp_signed("<", block, _splat(0, BYTES))
        return builder.bitcast(builder.or_(builder.or_(letter, digit), high), I64)

    return types.uint64(array, types.int64), codegen


@intrinsic
def count_ones(typingctx, word):
    """The number of one bits of a uint64."""

    def codegen(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), codegen


@intrinsic
def trailing_zeros(typingctx, word):
    """The index of the lowest one bit of a uint64, 64 for zero."""

    def codegen(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(I1, 0))

    return types.uint64(types.uint64), codegen


@intrinsic
def multiply_min(typingctx, minima, base, multipliers, index, x0, x1, x2, x3, x4, x5, x6, x7):
    """For 64 bytes of lanes j: minima[base + j] = min(minima[base + j], multipliers[index + j] * x for the eight x), in the width of the lanes."""
    lane = minima.dtype
    scalars = [lane] * 8

    def codegen(context, builder, signature, arguments):
        out_type, _, multiplier_type = signature.args[:3]
        element = ir.IntType(lane.bitwidth)
        vector = ir.VectorType(element, 512 // lane.bitwidth)
        out = _pointer(context, builder, out_type, arguments[0], arguments[1], vector)
        multiplier = builder.load(_pointer(context, builder, multiplier_type, arguments[2], arguments[3], vector), align=1)
        smallest = builder.load(out, align=1)
        name = f"llvm.umin.v{vector.count}i{lane.bitwidth}"
        umin = cgutils.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector, vector]), name)
        for x in arguments[4:]:
            smallest = builder.call(umin, [smallest, builder.mul(multiplier, _spread(builder, x, vector))])
        builder.store(smallest, out, align=1)
        return context.get_dummy_value()

    return types.void(minima, types.int64, multipliers, types.int64, *scalars), codegen


@intrinsic(prefer_literal=True)
def subtract_differing(typingctx, agreeing, tile, word, column, planes, q0, q1, q2, q3, q4, q5, q6, q7):
    """For 32 columns i from `column` on: agreeing[i] -= the ones of the eight q ^ tile[word + 0 .. 7, i], ORed in groups of `planes` before they are counted.

    agreeing int64, tile uint64 with contiguous rows, planes a literal 1, 2, 4 or 8.
    """
    group = planes.literal_value

    def codegen(context, builder, signature, arguments):
        ones = cgutils.get_or_insert_function(builder.module, ir.FunctionType(WORDS, [WORDS]), "llvm.ctpop.v8i64")
        queries = [_spread(builder, query, WORDS) for query in arguments[5:]]
        matrix = context.make_array(signature.args[1])(context, builder, arguments[1])

        def differing(plane, place):
            row = builder.add(arguments[2], ir.Constant(I64, plane))
            pointer = cgutils.get_item_pointer(context, builder, signature.args[1], matrix, [row, place])
            return builder.xor(builder.load(builder.bitcast(pointer, WORDS.as_pointer()), align=8), queries[plane])

        for step in range(0, 32, 8):
            place = builder.add(arguments[3], ir.Constant(I64, step))
            target = _pointer(context, builder, signature.args[0], arguments[0], place, WORDS)
            left = builder.load(target, align=8)
            for first in range(0, 8, group):
                difference = reduce(builder.or_, [differing(plane, place) for plane in range(first, first + group)])
                left = builder.sub(left, builder.call(ones, [difference]))
            builder.store(left, target, align=8)
        return context.get_dummy_value()

    return types.void(agreeing, tile, types.int64, types.int64, planes, *[types.uint64] * 8), codegen
