"""Layers that write to every block when they are built, so that sparse images grow to their full size."""

import pytest

from poolproof.layers.tree import writes_everything

from .ground import resolve


@pytest.mark.parametrize(
    "text",
    [
        "md raid1 a b | ext4",
        "md raid5 a b c",
        "lvm raid1 a b | xfs",
        "a | luks integrity=hmac-sha256 | ext4",
        "mergerfs (md raid1 a b | ext4) (c | ext4)",
    ],
)
def test_a_sync_or_a_wipe_writes_to_every_block(text: str) -> None:
    assert writes_everything(resolve(text))


@pytest.mark.parametrize(
    "text",
    [
        "a | ext4",
        "md raid0 a b | ext4",
        "md raid1 a b assume-clean | ext4",
        "lvm raid1 a b nosync | xfs",
        "a | luks | ext4",
        "a | luks integrity=hmac-sha256 integrity-no-wipe | ext4",
        "zfs mirror a b",
        "btrfs raid1 a b",
    ],
)
def test_other_layers_write_only_data_and_metadata(text: str) -> None:
    assert not writes_everything(resolve(text))
