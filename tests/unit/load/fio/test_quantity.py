"""Values as fio interprets them.

The tables were created with `fio --debug=parse --parse-only` of fio 3.33, which prints `out=`.
"""

import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poolproof.load.fio import quantity
from poolproof.load.fio.quantity import BlockSizes, SizeRange
from tests.unit.load.fio.needs_fio import needs_fio

BYTES = {
    "4k": 4096, "4kb": 4096, "4KB": 4096, "4KiB": 4000, "4kib": 4000, "1Mi": 1048576, "1gi": 1073741824, "4kx": 4096,
    "1mb": 1048576, "1Mbit": 1048576, "1MiB": 1000000, "4ki": 4096, "0x1000": 4096, "0x10k": 16, "0xffK": 255,
    "1e3": 1, "1e9": 1, "1.5g": 1, "5x": 5, "4m5": 4194304, "4k/5": 4096, "1,000,000": 1, "10G+5": 10737418240,
    "10 G": 10, " 10G ": 10, "010k": 10240, "+5k": 5120, " 4k": 4,
}  # fmt: skip
REFUSED = ["", "k", "abc", "-5k", "10%", "4z"]
TIMES_US = {
    "10": 10_000_000, "10s": 10_000_000, "1m": 60_000_000, "3M": 180_000_000, "1h": 3_600_000_000,
    "1d": 86_400_000_000, "2D": 172_800_000_000, "500ms": 500_000, "500msec": 500_000, "10us": 10, "1min": 1,
    "10sec": 10, "10seconds": 10, "1m30s": 1, "1.5": 1_000_000, "1.5m": 1_000_000, "5 s": 5_000_000, "+5": 5_000_000,
    "10x": 16, "0": 0,
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), BYTES.items())
def test_bytes_are_read_as_fio_reads_them(text: str, expected: int) -> None:
    assert quantity.parse_bytes(text) == expected


@pytest.mark.parametrize("text", REFUSED)
def test_an_invalid_number_of_bytes_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        quantity.parse_bytes(text)


def test_kb_base_1000_swaps_the_meaning_of_kb_and_kib() -> None:
    assert quantity.parse_bytes("1g", kb_base=1000) == 1_000_000_000
    assert quantity.parse_bytes("1GiB", kb_base=1000) == 1 << 30


@pytest.mark.parametrize(("text", "expected"), TIMES_US.items())
def test_times_are_read_as_fio_reads_them(text: str, expected: int) -> None:
    assert quantity.parse_time_us(text) == expected


def test_thinktime_is_in_microseconds_without_a_suffix() -> None:
    assert quantity.parse_time_us("10", bare_us=1) == 10
    assert quantity.parse_time_us("10ms", bare_us=1) == 10_000


@pytest.mark.parametrize(("text", "expected"), [("20%", 20), ("100%", 100), ("20", None), ("4k", None), ("%", None)])
def test_percentages_are_parsed(text: str, expected: int | None) -> None:
    assert quantity.parse_percent(text) == expected


K4, K8, K16 = SizeRange(4096, 4096), SizeRange(8192, 8192), SizeRange(16384, 16384)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4k", BlockSizes(K4, K4, K4)),
        ("4k,8k", BlockSizes(K4, K8, K8)),
        ("4k,8k,16k", BlockSizes(K4, K8, K16)),
        ("4k,8k,", BlockSizes(K4, K8, None)),
        (",8k", BlockSizes(None, K8, K8)),
        (",8k,", BlockSizes(None, K8, None)),
        ("4k-16k", BlockSizes(K4, K16, K16)),
    ],
)
def test_block_sizes_are_parsed_for_three_directions(text: str, expected: BlockSizes) -> None:
    assert quantity.parse_block_sizes(text) == expected


def test_block_ranges_and_splits_are_parsed() -> None:
    assert quantity.parse_block_ranges("16k-4k,8k-32k").read == SizeRange(4096, 16384)
    assert quantity.parse_block_ranges("4k-16k,8k-32k").write == SizeRange(8192, 32768)
    assert quantity.parse_block_split("4k/50:64k/").read == SizeRange(4096, 65536)
    with pytest.raises(ValueError, match="range of sizes"):
        quantity.parse_block_ranges("4k")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("(4k*2)", 8192), ("(2*3)k", 6144), ("(1g/(3+1))", 1 << 28), ("(7%4)", 3), ("(2^10)", 1024), ("(0-1+2)", 1)],
)
def test_arithmetic_in_parentheses_is_evaluated(text: str, expected: int) -> None:
    assert quantity.parse_bytes(text) == expected


def test_arithmetic_of_times_is_evaluated() -> None:
    assert quantity.parse_time_us("(2*3)") == 6_000_000
    assert quantity.parse_time_us("(2*3ms)") == 6_000


@given(st.text(max_size=40))
def test_arbitrary_text_raises_only_value_errors(text: str) -> None:
    for parse in (
        quantity.parse_bytes,
        quantity.parse_time_us,
        quantity.parse_block_sizes,
        quantity.parse_block_ranges,
        quantity.parse_block_split,
        quantity.parse_range,
        quantity.parse_percent,
    ):
        try:
            parse(text)
        except ValueError:
            continue


@given(st.from_regex(r"\([0-9+*/^%()km -]{0,30}", fullmatch=True))
def test_arbitrary_expressions_raise_only_value_errors(text: str) -> None:
    try:
        assert quantity.parse_bytes(text) >= 0
    except ValueError:
        return


@pytest.mark.slow
@needs_fio
@settings(max_examples=40, deadline=None)
@given(st.from_regex(r"[0-9]{1,4}(x|X|[kKmMgGtp]?(i?[bB]?)[a-z0-9:,+./]{0,2})?", fullmatch=True))
def test_the_installed_fio_reads_the_same_values(text: str) -> None:
    said = subprocess.run(
        ["fio", "--debug=parse", "--parse-only", "--name=x", f"--iodepth={text}"],
        capture_output=True, text=True, timeout=20, check=False,
    )  # fmt: skip
    read = re.search(r"handle_option=iodepth.*?ret=0, out=(\d+)", said.stdout + said.stderr, re.DOTALL)
    if read is None:
        assert text.rstrip(",").endswith("z")
        return
    size = quantity.attempt(quantity.parse_bytes, text)
    if size is None:
        assert re.match(r"(?:819[2-9]|8[2-9]\d\d|9\d{3})[pP]", text), (
            "only what no longer fits 63 bits, where fio's own number wraps"
        )
        return
    assert size & 0xFFFFFFFF == int(read[1]) & 0xFFFFFFFF
