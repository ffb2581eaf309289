"""Blocks of text: 64 bytes tested or copied at once, and words stored unaligned.

A *plain single* is a code point of three bytes that is a token of its own, becomes itself, and never touches its predecessor: record SINGLE and no more. PLAIN are the
ranges of them that texts are made of: hiragana, katakana, ideographs of extension A and of the first block, Hangul syllables.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from twinset.kernels.vector import BYTES, I32, I64, _pointer, _splat

PLAIN = (0x3041, 0x3096), (0x30A1, 0x30FA), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3)
GROUPS = ir.VectorType(I32, 16)  # sixteen groups of three bytes, each in four


def _load(context, builder, kind, array, position):
    return builder.load(_pointer(context, builder, kind, array, position, BYTES), align=1)


def _below(builder, block, first, count):
    """Lanes that hold one of the `count` bytes from `first` on."""
    return builder.icmp_unsigned("<", builder.sub(block, _splat(first, BYTES)), _splat(count, BYTES))


def _lowered(builder, block, step):
    """Add `step` to the bytes A to Z."""
    zeros = ir.Constant(ir.VectorType(I32, 64), [ir.Constant(I32, 0)] * 64)
    steps = builder.shuffle_vector(builder.insert_element(_splat(0, BYTES), step, ir.Constant(I32, 0)), _splat(0, BYTES), zeros)
    return builder.select(_below(builder, block, ord("A"), 26), builder.add(block, steps), block)


def _spaced(builder, block, order):
    """The first 48 bytes as sixteen lanes of four, `order` saying for each lane which of its group's bytes 0 to 2 go where, and where a blank does (3)."""
    indices = [64 if i == 3 else 3 * group + i for group in range(16) for i in order]
    return builder.shuffle_vector(block, _splat(ord(" "), BYTES), ir.Constant(ir.VectorType(I32, 64), [ir.Constant(I32, i) for i in indices]))


def _plain(builder, block):
    """One bit for each of the sixteen groups of three bytes: 1 for plain singles."""
    lanes = builder.bitcast(_spaced(builder, block, (2, 1, 0, 3)), GROUPS)  # the lead byte counts most, so that lanes ascend as code points do
    found = ir.Constant(ir.VectorType(ir.IntType(1), 16), None)
    for ends in PLAIN:
        first, last = (int.from_bytes(chr(code).encode(), "big") | ord(" ") << 24 for code in ends)
        found = builder.or_(found, builder.icmp_unsigned("<=", builder.sub(lanes, _splat(first, GROUPS)), _splat(last - first, GROUPS)))
    trails = builder.icmp_unsigned("==", builder.and_(lanes, _splat(0xC0C0, GROUPS)), _splat(0x8080, GROUPS))
    return builder.zext(builder.bitcast(builder.and_(found, trails), ir.IntType(16)), I64)


def _high(builder, block):
    return builder.bitcast(builder.icmp_signed("<", block, _splat(0, BYTES)), I64)


@intrinsic
def store_word(typingctx, array, index, word):
    """Write a uint64 to the eight bytes of a uint8 array from `index` on, little-endian."""

    def codegen(context, builder, signature, arguments):
        builder.store(arguments[2], _pointer(context, builder, signature.args[0], *arguments[:2], I64), align=1)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.uint64), codegen


@intrinsic
def high_bytes(typingctx, text, position):
    """One bit for each of the 64 bytes from text[position] on: 1 for bytes from 0x80 up."""

    def codegen(context, builder, signature, arguments):
        return _high(builder, _load(context, builder, signature.args[0], *arguments))

    return types.uint64(text, types.int64), codegen


@intrinsic
def copy_words(typingctx, text, position, out, place, step):
    """Copy 64 bytes from text[position] to out[place], adding `step` (uint8) to A-Z. Bits of the result: bytes from 0x80 up."""

    def codegen(context, builder, signature, arguments):
        block = _load(context, builder, signature.args[0], *arguments[:2])
        target = _pointer(context, builder, signature.args[2], *arguments[2:4], BYTES)
        builder.store(_lowered(builder, block, arguments[4]), target, align=1)
        return _high(builder, block)

    return types.uint64(text, types.int64, out, types.int64, types.uint8), codegen


@intrinsic
def copy_chars(typingctx, text, position, out, place, step):
    """Like copy_words, and white space becomes blanks. Bits of the two results: bytes from 0x80 up, white space."""

    def codegen(context, builder, signature, arguments):
        block = _load(context, builder, signature.args[0], *arguments[:2])
        target = _pointer(context, builder, signature.args[2], *arguments[2:4], BYTES)
        white = builder.or_(_below(builder, block, 9, 5), _below(builder, block, 0x1C, 5))  # tab to carriage return; four separators and the space
        lowered = _lowered(builder, block, arguments[4])
        builder.store(builder.select(white, _splat(ord(" "), BYTES), lowered), target, align=1)
        return cgutils.pack_array(builder, [_high(builder, block), builder.bitcast(white, I64)])

    return types.UniTuple(types.uint64, 2)(text, types.int64, out, types.int64, types.uint8), codegen


@intrinsic
def plain_singles(typingctx, text, position):
    """One bit for each of the 16 groups of three bytes from text[position] on: 1 for plain singles. 64 bytes are read."""

    def codegen(context, builder, signature, arguments):
        return _plain(builder, _load(context, builder, signature.args[0], *arguments))

    return types.uint64(text, types.int64), codegen


@intrinsic
def copy_singles(typingctx, text, position, out, place):
    """Like plain_singles, and writes a blank and the group for each: 64 bytes at out[place]."""

    def codegen(context, builder, signature, arguments):
        block = _load(context, builder, signature.args[0], *arguments[:2])
        builder.store(_spaced(builder, block, (3, 0, 1, 2)), _pointer(context, builder, signature.args[2], *arguments[2:], BYTES), align=1)
        return _plain(builder, block)

    return types.uint64(text, types.int64, out, types.int64), codegen
