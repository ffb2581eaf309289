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
def count_agreeing(typingctx, query, word, tile, place, blocks, bits, planes, samples, agreeing, at):
    """For 32 columns i: agreeing[at + i] = samples - the ones of the `blocks` blocks of query[word + w] ^ tile[place + 32 * w + i], each the OR of its `bits` words.

    All arrays flat: query uint64, tile uint64 (rows of 32 columns, one for each word), agreeing int64. planes: a literal equal to `bits`, or a literal 0 for any
    number of bits. Sums stay in registers from the first word to the last.
    """
    fixed, vectors = planes.literal_value, 32 // WORDS.count

    def codegen(context, builder, signature, arguments):
        query_type, _, tile_type, _, _, _, _, _, out_type, _ = signature.args
        _, word, _, place, blocks, bits, _, samples, _, at = arguments
        ones = cgutils.get_or_insert_function(builder.module, ir.FunctionType(WORDS, [WORDS]), "llvm.ctpop.v8i64")
        sums = [cgutils.alloca_once_value(builder, ir.Constant(WORDS, None)) for _ in range(vectors)]

        def differing(w):
            """The four vectors that tell where word w of the query and of the columns differ."""
            asked = _spread(builder, builder.load(_pointer(context, builder, query_type, arguments[0], builder.add(word, w), I64)), WORDS)
            first = builder.add(place, builder.mul(w, ir.Constant(I64, 32)))
            places = [builder.add(first, ir.Constant(I64, 8 * v)) for v in range(vectors)]
            return [builder.xor(asked, builder.load(_pointer(context, builder, tile_type, arguments[2], i, WORDS), align=8)) for i in places]

        def count(found):
            for total, difference in zip(sums, found, strict=True):
                builder.store(builder.add(builder.load(total), builder.call(ones, [difference])), total)

        with cgutils.for_range(builder, blocks) as block:
            begin = builder.mul(block.index, ir.Constant(I64, fixed) if fixed else bits)
            if fixed:
                every = [differing(builder.add(begin, ir.Constant(I64, plane))) for plane in range(fixed)]
                count([reduce(builder.or_, column) for column in zip(*every, strict=True)])
            else:
                any_plane = [cgutils.alloca_once(builder, WORDS) for _ in range(vectors)]
                for each in any_plane:
                    builder.store(ir.Constant(WORDS, None), each)
                with cgutils.for_range(builder, bits) as plane:
                    for each, difference in zip(any_plane, differing(builder.add(begin, plane.index)), strict=True):
                        builder.store(builder.or_(builder.load(each), difference), each)
                count([builder.load(each) for each in any_plane])
        everything = _spread(builder, samples, WORDS)
        for v, total in enumerate(sums):
            target = _pointer(context, builder, out_type, arguments[8], builder.add(at, ir.Constant(I64, 8 * v)), WORDS)
            builder.store(builder.sub(everything, builder.load(total)), target, align=8)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(query, whole, tile, whole, whole, whole, planes, whole, agreeing, whole), codegen
