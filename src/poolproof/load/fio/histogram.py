"""fio's latency histogram, which is accurate to 1/128, because it has 64 bins per power of two.

Source: `plat_idx_to_val` and `calc_clat_percentiles` in fio's stat.c, FIO_IO_U_PLAT_BITS in stat.h.
"""

import sys
from array import array
from collections import Counter
from collections.abc import Sequence
from struct import pack, unpack

PLAT_BITS = 6
BIN_WIDTH = 1 / (1 << PLAT_BITS)
"""The width of a bin as a fraction of its latency."""
_EXACT_IN_FLOAT = 1 << 24


def bin_value(index: int, bits: int = PLAT_BITS) -> int:
    """Return the latency at the midpoint of bin number `index`, which fio reports for all latencies in the bin."""
    per_power = 1 << bits
    if index < 2 * per_power:
        return index
    error_bits = (index >> bits) - 1
    return (1 << (error_bits + bits)) + ((2 * (index % per_power) + 1) << error_bits) // 2


def bin_of(latency: int) -> int:
    """Return the latency at the midpoint of the bin that contains `latency`."""
    if latency < 2 << PLAT_BITS:
        return latency
    error_bits = latency.bit_length() - 1 - PLAT_BITS
    return (latency >> error_bits << error_bits) + (1 << error_bits) // 2


def count_bins(latencies: Sequence[int]) -> Counter[int]:
    """Count the latencies in each bin, keyed by the latency at the bin's midpoint.

    This is several times faster than calling `bin_of` for each latency. It works because the upper half of a 32-bit
    float holds the exponent and seven bits of the mantissa, one more than a bin needs. Larger latencies than 2^24 are
    rare and are counted individually, because not all of them are exact as floats.
    """
    large = [latency for latency in latencies if latency >= _EXACT_IN_FLOAT or latency < 0]
    small = [latency for latency in latencies if 0 <= latency < _EXACT_IN_FLOAT] if large else latencies
    halves = memoryview(array("f", small)).cast("B").cast("H")
    upper = halves[1::2] if sys.byteorder == "little" else halves[::2]
    counted: Counter[int] = Counter(map(bin_of, large))
    for half, count in Counter(upper.tolist()).items():
        counted[bin_of(int(unpack(">f", pack(">HH", half, 0))[0]))] += count
    return counted
