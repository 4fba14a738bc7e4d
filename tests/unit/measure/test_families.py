"""Which layouts are converted into the next one in place, and which are built from scratch."""

import pytest

from poolproof.campaign.expression import parse_expression
from poolproof.layers.adapt import families
from poolproof.layers.resolve import resolve

DEVICES = ("a", "b", "c", "d")


@pytest.mark.parametrize(
    ("layouts", "expected"),
    [
        (["zfs mirror a b", "zfs mirror a b log c", "zfs mirror a b cache (d | luks)"], ["012"]),
        (["zfs mirror a b log c", "zfs mirror a b log d"], ["01"]),
        (["zfs mirror a b", "btrfs raid1 a b", "zfs mirror a b log c"], ["0", "1", "2"]),
        (["zfs mirror a b", "zfs mirror a b ashift=12 log c"], ["0", "1"]),
        (["zfs a | zvol 1G | ext4", "zfs a log b | zvol 1G | ext4", "zfs a log b | zvol 1G | xfs"], ["01", "2"]),
        # a layout that is listed twice must be built twice
        (["zfs a", "zfs a"], ["0", "1"]),
        (["a | ext4", "a | ext4"], ["0", "1"]),
        (["zfs a", "zfs mirror a b", "zfs b"], ["012"]),
        (["zfs (a | luks)", "zfs mirror (a | luks) b", "zfs mirror b c log d", "zfs c"], ["0123"]),
        # a disk that was detached still contains its old data
        (["zfs a", "zfs mirror a b", "zfs b", "zfs mirror a b"], ["012", "3"]),
        (["zfs mirror a b", "zfs a", "zfs a log b"], ["01", "2"]),
        (["zfs a", "zfs b"], ["0", "1"]),
        (["zfs a", "zfs mirror a b", "zfs mirror a b"], ["01", "2"]),
    ],
)
def test_consecutive_layouts_that_can_be_changed_in_place_are_a_family(layouts: list[str], expected: list[str]) -> None:
    nodes = {str(number): resolve(parse_expression(text), DEVICES) for number, text in enumerate(layouts)}
    assert ["".join(family) for family in families(nodes, list(nodes))] == expected
