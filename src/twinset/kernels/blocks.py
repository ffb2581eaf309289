"""Blocks of text: 64 bytes tested or copied at once, and words stored unaligned."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from twinset.kernels.vector import BYTES, I32, I64, _pointer, _splat


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
