"""Graphs of ONNX, built node by node."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

__all__ = ["GraphBuilder", "tensor_type"]

_TYPES = {
    np.dtype(np.float32): TensorProto.FLOAT,
    np.dtype(np.float64): TensorProto.DOUBLE,
    np.dtype(np.int32): TensorProto.INT32,
    np.dtype(np.int64): TensorProto.INT64,
    np.dtype(np.uint64): TensorProto.UINT64,
    np.dtype(np.bool_): TensorProto.BOOL,
    np.dtype(object): TensorProto.STRING,
}


def tensor_type(dtype: Any) -> int:
    """Return the type of tensors of this type of arrays; objects are texts."""
    return _TYPES[np.dtype(dtype)]


class GraphBuilder:
    """Nodes and constants of a graph, or of the body of a loop in one.

    Attributes
    ----------
    inputs : dict of str to str
        By column of the data the name of its tensor.
    """

    def __init__(self, outer: GraphBuilder | None = None) -> None:
        self.outer = outer
        self.inputs: dict[str, str] = {}
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[tuple[Any, ...], onnx.TensorProto] = {}
        self._count = 0

    def fresh(self, word: str) -> str:
        """Return a name that no other tensor has, and no column of the data."""
        if self.outer is not None:
            return self.outer.fresh(word)
        self._count += 1
        name = f"{word}_{self._count}"
        return self.fresh(word) if name in self.inputs else name

    def constant(self, array: NDArray | np.generic) -> str:
        """Return the name of a constant tensor, the same for equal arrays."""
        if self.outer is not None:
            return self.outer.constant(array)
        values = np.asarray(array)
        content = tuple(values.ravel().tolist()) if values.dtype == object else values.tobytes()
        key = (values.dtype.str, values.shape, content)
        if key not in self.constants:
            tensor = numpy_helper.from_array(values, self.fresh("constant"))
            self.constants[key] = tensor
        return self.constants[key].name

    def add(self, operator: str, inputs: list[str], *, outputs: int = 1, **attributes: Any) -> Any:
        """Append a node; return the name of its output, or a list of names."""
        names = [self.fresh(operator.lower()) for _ in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def cast(self, tensor: str, dtype: Any) -> str:
        """Return a tensor in another type."""
        return self.add("Cast", [tensor], to=tensor_type(dtype))
