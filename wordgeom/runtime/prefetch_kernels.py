"""Prefetching, for kernels that read memory at places which they know early."""

from __future__ import annotations

from typing import Any

import llvmlite.ir as ir
from numba.core import cgutils, types
from numba.extending import intrinsic

LINE = 64  # bytes that are prefetched at once


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(_typing: Any, array: Any, index: Any) -> Any:
    """Prefetch the number at an index of a C-contiguous array of any shape; never faults."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, args[0])
        address = builder.gep(view.data, [args[1]])
        address = builder.bitcast(address, ir.IntType(8).as_pointer())
        int32 = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, int32, int32, int32])
        call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        read, keep, data = int32(0), int32(3), int32(1)
        builder.call(call, [address, read, keep, data])
        return context.get_dummy_value()

    return types.void(array, index), generate
