"""The state of a kernel by reference.

A named tuple of arrays is passed on value by value, some seventy of them: they fill
registers and stack, and most of the code of a kernel was to pass them. Of a *reference*
the address is passed, of one word for the data of every array and one for each of its
lengths. They never change in a run, so that compiled code may read each of them once.
"""

from typing import Any
from zlib import crc32

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, register_model

_WORD = ir.IntType(64)

_NAMED_TUPLE: Any = types.BaseNamedTuple

_ANOTHER_ADDRESS = "=r,0,~{memory}"
"""Operands of an instruction that might return another address than it is given.

Else the compiler would know where the words are written, and read what never changes
before that."""


class Reference(types.Type):
    """The type of a reference to a named tuple."""

    def __init__(self, target: Any) -> None:
        self.target = target
        # A part of the name of every function, so that it is short.
        name = target.instance_class.__name__
        super().__init__(name=f"{name}_{crc32(target.name.encode()):08x}")


@register_model(Reference)
class _ReferenceModel(models.PrimitiveModel):
    def __init__(self, manager: Any, reference: Reference) -> None:
        super().__init__(manager, reference, _WORD.as_pointer())


@infer_getattr
class _FieldTypes(AttributeTemplate):
    key = Reference

    def generic_resolve(self, reference: Reference, name: str) -> Any:
        fields = dict(zip(reference.target.fields, reference.target.types, strict=True))
        kind = fields.get(name)
        return Reference(kind) if isinstance(kind, _NAMED_TUPLE) else kind


@lower_getattr_generic(Reference)
def _field(
    context: Any, builder: Any, reference: Reference, address: Any, name: str
) -> Any:
    target = reference.target
    place = target.fields.index(name)
    begin = sum(map(_words, target.types[:place]))
    kind = target.types[place]
    if isinstance(kind, _NAMED_TUPLE):
        return builder.gep(address, [ir.Constant(_WORD, begin)])
    return _read(context, builder, kind, address, begin)


def _words(kind: Any) -> int:
    """Count the words of an array, or of a tuple of them."""
    if isinstance(kind, _NAMED_TUPLE):
        return sum(map(_words, kind.types))
    if isinstance(kind, types.Array) and kind.layout == "C":
        return 1 + kind.ndim
    raise TypeError(f"a state holds contiguous arrays, and tuples of them; got {kind}")


def _read(context: Any, builder: Any, kind: Any, address: Any, begin: int) -> Any:
    """Make an array out of its words, from number ``begin`` on."""
    data_type = context.get_data_type(kind.dtype)
    item = ir.Constant(_WORD, context.get_abi_sizeof(data_type))
    data = _read_word(builder, address, begin, data_type.as_pointer())
    parts = [("itemsize", item), ("data", data)]
    size = None
    for axis in reversed(range(kind.ndim)):
        length = _read_word(builder, address, begin + 1 + axis)
        stride = item if size is None else builder.mul(item, size)
        size = length if size is None else builder.mul(length, size)
        parts += [(("shape", axis), length), (("strides", axis), stride)]
    model = context.data_model_manager[kind]
    whole = ir.Constant(model.get_value_type(), None)
    for name, part in [*parts, ("nitems", size)]:
        field, *inner = name if isinstance(name, tuple) else (name,)
        place = [model.get_field_position(field), *inner]
        whole = builder.insert_value(whole, part, place)
    return whole


def _read_word(
    builder: Any, address: Any, number: int, kind: ir.Type = _WORD
) -> ir.Instruction:
    place = builder.gep(address, [ir.Constant(_WORD, number)])
    if kind != _WORD:
        place = builder.bitcast(place, kind.as_pointer())
    word = builder.load(place)
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


def _reference(typing_context: Any, state: Any) -> Any:
    if not isinstance(state, _NAMED_TUPLE):
        return None

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        count = ir.Constant(_WORD, _words(state))
        address = cgutils.alloca_once(builder, _WORD, size=count)
        _write(context, builder, state, arguments[0], address, 0)
        kind = ir.FunctionType(address.type, [address.type])
        same = ir.InlineAsm(kind, "", _ANOTHER_ADDRESS, side_effect=True)
        return builder.call(same, [address])

    return Reference(state)(state), write


def _write(
    context: Any, builder: Any, kind: Any, value: Any, address: Any, begin: int
) -> int:
    """Write the words of a field from number ``begin`` on; return what comes after."""
    if isinstance(kind, _NAMED_TUPLE):
        for place, each in enumerate(kind.types):
            part = builder.extract_value(value, place)
            begin = _write(context, builder, each, part, address, begin)
        return begin
    array = context.make_array(kind)(context, builder, value=value)
    words = [array.data, *cgutils.unpack_tuple(builder, array.shape, kind.ndim)]
    for number, word in enumerate(words):
        place = builder.gep(address, [ir.Constant(_WORD, begin + number)])
        builder.store(word, builder.bitcast(place, word.type.as_pointer()))
    return begin + len(words)


reference: Any = intrinsic(_reference)
"""``reference(state)``: of a named tuple, for as long as the caller runs."""
