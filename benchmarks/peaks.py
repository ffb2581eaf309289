"""What this machine can do at most, one thread: pure loops of the instructions that the kernels live on, with nothing else in them.

Each is written out in LLVM with whole vectors, so that no compiler's choice of width or order stands between the loop and the hardware.
"""

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

I64 = ir.IntType(64)
CHAINS = 8  # independent accumulators: enough to hide every instruction's latency
WORDS = ir.VectorType(I64, 8)


def _spread(builder, value, vector):
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    empty = ir.Constant(vector, None)
    return builder.shuffle_vector(builder.insert_element(empty, value, ir.Constant(ir.IntType(32), 0)), empty, zeros)


def _sum_of_lanes(builder, vectors):
    total = vectors[0]
    for vector in vectors[1:]:
        total = builder.add(total, vector)
    lanes = [builder.extract_element(total, ir.Constant(ir.IntType(32), i)) for i in range(total.type.count)]
    result = lanes[0]
    for lane in lanes[1:]:
        result = builder.add(result, lane)
    return result


@intrinsic
def _multiply_min(typingctx, rounds, multiplier):
    lane = multiplier
    element = ir.IntType(lane.bitwidth)
    vector = ir.VectorType(element, 512 // lane.bitwidth)

    def codegen(context, builder, signature, arguments):
        umin = cgutils.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector, vector]), f"llvm.umin.v{vector.count}i{lane.bitwidth}")
        chains = [cgutils.alloca_once_value(builder, ir.Constant(vector, [-1] * vector.count)) for _ in range(CHAINS)]
        steps = [ir.Constant(vector, [2 * (i * vector.count + j) + 1 for j in range(vector.count)]) for i in range(CHAINS)]
        multipliers = [builder.add(_spread(builder, arguments[1], vector), step) for step in steps]
        with cgutils.for_range(builder, arguments[0]) as loop:
            x = _spread(builder, builder.trunc(loop.index, element) if lane.bitwidth < 64 else loop.index, vector)
            for chain, each in zip(chains, multipliers, strict=True):
                builder.store(builder.call(umin, [builder.load(chain), builder.mul(each, x)]), chain)
        return _sum_of_lanes(builder, [builder.load(chain) for chain in chains])

    return lane(types.int64, lane), codegen


@intrinsic
def _popcount(typingctx, words, query):
    """The ones of words[i] ^ query, four vectors a step."""

    def codegen(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        ones = cgutils.get_or_insert_function(builder.module, ir.FunctionType(WORDS, [WORDS]), "llvm.ctpop.v8i64")
        chains = [cgutils.alloca_once_value(builder, ir.Constant(WORDS, None)) for _ in range(CHAINS)]
        pattern = _spread(builder, arguments[1], WORDS)
        steps = builder.udiv(array.nitems, ir.Constant(I64, 8 * CHAINS))
        with cgutils.for_range(builder, steps) as loop:
            for i, chain in enumerate(chains):
                at = builder.add(builder.mul(loop.index, ir.Constant(I64, 8 * CHAINS)), ir.Constant(I64, 8 * i))
                word = builder.load(builder.bitcast(builder.gep(array.data, [at]), WORDS.as_pointer()), align=8)
                builder.store(builder.add(builder.load(chain), builder.call(ones, [builder.xor(word, pattern)])), chain)
        return _sum_of_lanes(builder, [builder.load(chain) for chain in chains])

    return types.uint64(words, types.uint64), codegen


@njit(nogil=True)
def multiply_min(rounds, multiplier):
    """Multiply and take the minimum in registers alone: rounds * CHAINS * 512 bits of lanes."""
    return _multiply_min(rounds, multiplier)


@njit(nogil=True)
def popcount(words, query, rounds):
    """XOR and count the bits of `words`, a multiple of 64 of them, `rounds` times."""
    total = query
    for _ in range(rounds):
        total += _popcount(words, query + total)
    return total


@njit(nogil=True)
def copy(source, target, rounds):
    """Copy bytes, `rounds` times."""
    for r in range(rounds):
        target[:] = source
        target[0] = r
    return target[0]
