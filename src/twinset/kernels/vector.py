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


GROUP = 32  # columns of a tile that are counted together


def _differing(context, builder, query_type, query, tile_type, tile, start, stride, place, blocks, bits, planes, queries):
    """Where `queries` sketches differ from 32 columns of a tile: for each query four vectors of sums, held in registers over all words.

    A query's words are query[start + i * stride + w], the columns' tile[place + 32 * w ...]; the `bits` words of a block are ORed before they are counted.
    Each vector of the tile is loaded once for all queries.
    """
    vectors = GROUP // WORDS.count
    ones = cgutils.get_or_insert_function(builder.module, ir.FunctionType(WORDS, [WORDS]), "llvm.ctpop.v8i64")
    sums = [[cgutils.alloca_once_value(builder, ir.Constant(WORDS, None)) for _ in range(vectors)] for _ in range(queries)]
    for total in (each for row in sums for each in row):
        builder.store(ir.Constant(WORDS, None), total)

    def differing(w):
        first = builder.add(place, builder.mul(w, ir.Constant(I64, GROUP)))
        places = [builder.add(first, ir.Constant(I64, WORDS.count * v)) for v in range(vectors)]
        columns = [builder.load(_pointer(context, builder, tile_type, tile, i, WORDS), align=8) for i in places]
        words = [builder.add(builder.add(start, w), builder.mul(stride, ir.Constant(I64, i))) for i in range(queries)]
        asked = [_spread(builder, builder.load(_pointer(context, builder, query_type, query, i, I64)), WORDS) for i in words]
        return [[builder.xor(one, column) for column in columns] for one in asked]

    def joined(found, more):
        return [[builder.or_(a, b) for a, b in zip(*rows, strict=True)] for rows in zip(found, more, strict=True)]

    def count(found):
        for total, difference in ((total, each) for row, rows in zip(sums, found, strict=True) for total, each in zip(row, rows, strict=True)):
            builder.store(builder.add(builder.load(total), builder.call(ones, [difference])), total)

    with cgutils.for_range(builder, blocks) as block:
        begin = builder.mul(block.index, ir.Constant(I64, planes) if planes else bits)
        if planes:
            count(reduce(joined, [differing(builder.add(begin, ir.Constant(I64, plane))) for plane in range(planes)]))
        else:
            any_plane = [[cgutils.alloca_once(builder, WORDS) for _ in range(vectors)] for _ in range(queries)]
            for each in (each for row in any_plane for each in row):
                builder.store(ir.Constant(WORDS, None), each)
            with cgutils.for_range(builder, bits) as plane:
                for row, found in zip(any_plane, differing(builder.add(begin, plane.index)), strict=True):
                    for each, difference in zip(row, found, strict=True):
                        builder.store(builder.or_(builder.load(each), difference), each)
            count([[builder.load(each) for each in row] for row in any_plane])
    return [[builder.load(total) for total in row] for row in sums]


@intrinsic(prefer_literal=True)
def count_agreeing(typingctx, query, start, stride, tile, place, blocks, bits, planes, queries, samples, agreeing, at, step):
    """For `queries` sketches q and 32 columns i: agreeing[at + q * step + i] = samples - the ones of query[start + q * stride + w] ^ tile[place + 32 * w + i].

    All arrays flat: query uint64, tile uint64 (rows of 32 columns, one for each word), agreeing int32. The words w are
    `blocks` blocks of `bits`, ORed before they are counted. planes: a literal equal to `bits`, or a literal 0 for any number. queries: a literal.
    """

    def codegen(context, builder, signature, arguments):
        query_type, _, _, tile_type = signature.args[:4]
        query, start, stride, tile, place, blocks, bits, _, _, samples, _, at, step = arguments
        sums = _differing(context, builder, query_type, query, tile_type, tile, start, stride, place, blocks, bits, planes.literal_value, queries.literal_value)
        halves = ir.VectorType(I32, WORDS.count)
        everything = _spread(builder, builder.trunc(samples, I32), halves)
        for q, row in enumerate(sums):
            for v, total in enumerate(row):
                index = builder.add(builder.add(at, builder.mul(step, ir.Constant(I64, q))), ir.Constant(I64, WORDS.count * v))
                target = _pointer(context, builder, signature.args[10], arguments[10], index, halves)
                builder.store(builder.sub(everything, builder.trunc(total, halves)), target, align=4)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(query, whole, whole, tile, whole, whole, whole, planes, queries, whole, agreeing, whole, whole), codegen


@intrinsic(prefer_literal=True)
def near_columns(typingctx, query, start, stride, tile, place, blocks, bits, planes, queries, most):
    """For `queries` sketches, one uint32 each: bit i is set where at most `most` samples differ from column i. Arguments as in `count_agreeing`."""
    count = queries.literal_value

    def codegen(context, builder, signature, arguments):
        query_type, _, _, tile_type = signature.args[:4]
        query, start, stride, tile, place, blocks, bits, _, _, most = arguments
        sums = _differing(context, builder, query_type, query, tile_type, tile, start, stride, place, blocks, bits, planes.literal_value, count)
        limit = _spread(builder, most, WORDS)
        masks = []
        for row in sums:
            mask = ir.Constant(I32, 0)
            for v, total in enumerate(row):
                near = builder.zext(builder.bitcast(builder.icmp_signed("<=", total, limit), ir.IntType(WORDS.count)), I32)
                mask = builder.or_(mask, builder.shl(near, ir.Constant(I32, WORDS.count * v)))
            masks.append(mask)
        return cgutils.pack_array(builder, masks)

    whole = types.int64
    return types.UniTuple(types.uint32, count)(query, whole, whole, tile, whole, whole, whole, planes, queries, whole), codegen
