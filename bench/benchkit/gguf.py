"""What a GGUF file says of its model: the metadata that measuring needs, and the sizes of its tensors."""

import dataclasses
import math
import struct

from benchkit import places

_NUMBER = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_TEXT, _ARRAY = 8, 9
_LOOKED_UP = "token_embd.weight"  # a step reads a row of it, unless it is the output matrix as well
_OUTPUT = "output.weight"


@dataclasses.dataclass(frozen=True)
class Model:
    """Sizes in bytes and counts; None = not known."""

    context: int
    layers: int
    heads: int
    kv_heads: int
    key_length: int
    value_length: int
    weight_bytes: int  # what a decode step reads
    matrix_params: int  # what a decode step multiplies a row with
    odd: str  # why the figures above do not describe a decode step, else ""

    @property
    def kv_bytes_per_cell(self):
        """With an F16 cache."""
        return 2 * self.layers * self.kv_heads * (self.key_length + self.value_length)


def read(path):
    """The Model of a file.

    errors  places.Missing  it is not a GGUF file that this reads
    """
    try:
        with open(path, "rb") as file:
            return _model(*_header(file))
    except (OSError, struct.error, KeyError, TypeError, UnicodeDecodeError, MemoryError) as error:
        raise places.Missing(
            f"{places.display(path)} is not a GGUF model that can be read: {type(error).__name__}: {error}"
        ) from error


def _take(file, code):
    return struct.unpack(code, file.read(struct.calcsize(code)))[0]


def _text(file):
    return file.read(_take(file, "<Q")).decode()


def _value(file, kind):
    """A value; of an array its elements, if they are numbers and few, else None."""
    if kind == _TEXT:
        return _text(file)
    if kind != _ARRAY:
        return _take(file, _NUMBER[kind])
    inner, count = _take(file, "<I"), _take(file, "<Q")
    if inner in (_TEXT, _ARRAY):
        for _ in range(count):
            _value(file, inner)
        return None
    size = struct.calcsize(_NUMBER[inner])
    if count > 4096:
        file.seek(count * size, 1)
        return None
    return [_take(file, _NUMBER[inner]) for _ in range(count)]


def _header(file):
    """({key: value}, [(name, dimensions, bytes)])"""
    if file.read(4) != b"GGUF" or _take(file, "<I") not in (2, 3):
        raise TypeError("not GGUF of version 2 or 3")
    n_tensors, n_values = _take(file, "<Q"), _take(file, "<Q")
    values = {}
    for _ in range(n_values):
        key = _text(file)
        values[key] = _value(file, _take(file, "<I"))
    tensors = []
    for _ in range(n_tensors):
        name, n_dimensions = _text(file), _take(file, "<I")
        shape = [_take(file, "<Q") for _ in range(n_dimensions)]
        _take(file, "<I")  # the type: sizes follow from the offsets
        tensors.append((name, shape, _take(file, "<Q")))
    alignment = values.get("general.alignment", 32)
    begin = -(-file.tell() // alignment) * alignment
    end = file.seek(0, 2) - begin
    offsets = sorted(offset for _, _, offset in tensors) + [end]
    size = dict(zip(offsets, (after - at for at, after in zip(offsets, offsets[1:]))))
    return values, [(name, shape, size[offset]) for name, shape, offset in tensors]


def _model(values, tensors):
    arch = values["general.architecture"]

    def of(key, default=None):
        found = values.get(f"{arch}.{key}")
        return default if found is None else found

    heads, width = of("attention.head_count"), of("embedding_length")
    kv_heads = of("attention.head_count_kv", heads)
    plain = isinstance(heads, int) and isinstance(kv_heads, int)
    odd = next(
        (
            why
            for holds, why in (
                (not plain, "its layers differ in their heads"),
                (of("attention.sliding_window"), "some of its layers see a window"),
                (of("expert_count"), "a step reads some of its experts only"),
                (of("ssm.state_size"), "some of its layers are recurrent"),
            )
            if holds
        ),
        "",
    )
    length = width // heads if plain else 0
    names = {name for name, _, _ in tensors}
    used = [t for t in tensors if t[0] != _LOOKED_UP or _OUTPUT not in names]
    return Model(
        context=of("context_length"),
        layers=of("block_count"),
        heads=heads if plain else 0,
        kv_heads=kv_heads if plain else 0,
        key_length=of("attention.key_length", length),
        value_length=of("attention.value_length", length),
        weight_bytes=sum(size for _, _, size in used),
        matrix_params=sum(math.prod(shape) for _, shape, _ in used if len(shape) > 1),
        odd=odd,
    )
