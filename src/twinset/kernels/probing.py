"""Machine operations of look-ups: asking for a cache line ahead of need, and testing eight words at once. Places are not checked: the caller keeps them inside the array."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from twinset.kernels.vector import I1, I32, I64, WORDS, _pointer, _spread

I8 = ir.IntType(8)
LEAN: dict[str, Any] = {"nogil": True, "cache": True, "_nrt": False}  # how kernels of look-ups are compiled: without counting references to arrays, so that they cannot allocate


@intrinsic
def prefetch(typingctx, array, index):
    """Start to bring the cache line of array[index] near; nothing else happens, whatever the index."""

    def codegen(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.VoidType(), [I8.as_pointer(), I32, I32, I32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8" if not _opaque() else "llvm.prefetch.p0")
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), I8.as_pointer())
        builder.call(function, [address, ir.Constant(I32, 0), ir.Constant(I32, 3), ir.Constant(I32, 1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


def _opaque():
    """Whether LLVM names pointers without what they point to."""
    from llvmlite import binding

    return binding.llvm_version_info[0] >= 17


@intrinsic
def near_eight(typingctx, words, index, query, distance):
    """One bit for each of the eight words from words[index] on: 1 if it differs from the query in at most `distance` bits. words uint64, aligned to 64 bytes; index: 8 * i."""

    def codegen(context, builder, signature, arguments):
        block = builder.load(_pointer(context, builder, signature.args[0], *arguments[:2], WORDS), align=64)
        ones = cgutils.get_or_insert_function(builder.module, ir.FunctionType(WORDS, [WORDS]), "llvm.ctpop.v8i64")
        differing = builder.call(ones, [builder.xor(block, _spread(builder, arguments[2], WORDS))])
        near = builder.icmp_unsigned("<=", differing, _spread(builder, arguments[3], WORDS))
        return builder.zext(builder.bitcast(near, I8), I64)

    return types.uint64(words, types.int64, types.uint64, types.uint64), codegen


@intrinsic
def leading_zeros(typingctx, word):
    """The number of zero bits above the highest one bit of a uint64, 64 for zero."""

    def codegen(context, builder, signature, arguments):
        return builder.ctlz(arguments[0], ir.Constant(I1, 0))

    return types.uint64(types.uint64), codegen


@intrinsic
def rank_lanes(typingctx, keys, count, ranks, at):
    """ranks[at + i] = how many of the first `count` keys are below keys[at + i], for 32 lanes i. keys, ranks uint32."""
    lanes = ir.VectorType(I32, 32)

    def codegen(context, builder, signature, arguments):
        every = builder.load(_pointer(context, builder, signature.args[0], arguments[0], arguments[3], lanes), align=4)
        total = cgutils.alloca_once_value(builder, ir.Constant(lanes, None))
        builder.store(ir.Constant(lanes, None), total)
        with cgutils.for_range(builder, arguments[1]) as loop:
            key = builder.load(_pointer(context, builder, signature.args[0], arguments[0], loop.index, I32))
            below = builder.icmp_unsigned("<", _spread(builder, key, lanes), every)
            builder.store(builder.add(builder.load(total), builder.zext(below, lanes)), total)
        builder.store(builder.load(total), _pointer(context, builder, signature.args[2], arguments[2], arguments[3], lanes), align=4)
        return context.get_dummy_value()

    return types.void(keys, types.int64, ranks, types.int64), codegen


@intrinsic
def magnitude_keys(typingctx, weights, index, bits, mask, keys):
    """keys[i] = weights[index + i] & mask | i for 32 lanes i from 32 - bits on, and all ones for those before. weights uint32, read as if flat; keys uint32 (32,)."""
    lanes = ir.VectorType(I32, 32)

    def codegen(context, builder, signature, arguments):
        block = builder.load(_pointer(context, builder, signature.args[0], *arguments[:2], lanes), align=4)
        number = ir.Constant(lanes, list(range(32)))
        first = _spread(builder, builder.trunc(builder.sub(ir.Constant(I64, 32), arguments[2]), I32), lanes)
        found = builder.or_(builder.and_(block, _spread(builder, arguments[3], lanes)), number)
        shown = builder.select(builder.icmp_unsigned(">=", number, first), found, ir.Constant(lanes, [-1] * 32))
        builder.store(shown, _pointer(context, builder, signature.args[4], arguments[4], ir.Constant(I64, 0), lanes), align=4)
        return context.get_dummy_value()

    return types.void(weights, types.int64, types.int64, types.uint32, keys), codegen
