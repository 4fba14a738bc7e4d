"""The block sizes that a job's options give, as fio reads them, and what `k` is in them."""

from collections.abc import Callable, Mapping
from functools import partial

from poolproof.load.fio import quantity

DEFAULT_BLOCK = quantity.SizeRange(4096, 4096)
"""What fio takes where no option gives a size (HOWTO, `bs`)."""

_STRONGEST_FIRST = (
    ("bssplit", quantity.parse_block_split),
    ("bsrange", quantity.parse_block_ranges),
    ("bs", quantity.parse_block_sizes),
)


def kb_base_of(options: Mapping[str, str]) -> int:
    """What `k` is, as far as the options themselves say."""
    return 1000 if (options.get("kb_base") or "").strip() == "1000" else 1024


def block_sizes(options: Mapping[str, str], kb_base: Callable[[str], int]) -> quantity.BlockSizes:
    """The sizes for reads, writes and trims, in bytes; None each where not given. A split goes over a range, a range
    over a size; an option that fio would refuse counts as not given. `kb_base` tells that of each option."""
    for name, parse in _STRONGEST_FIRST:
        value = options.get(name)
        sizes = None if value is None else quantity.attempt(partial(parse, kb_base=kb_base(name)), value)
        if sizes is not None:
            return sizes
    return quantity.BlockSizes(None, None, None)
