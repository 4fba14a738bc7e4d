"""Loop devices that a script sets up with or without direct I/O."""

import pytest

from tests.unit.foreign.lint.making import said

_OPTIONS = "--rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=8 --size=8g --time_based --runtime=60"


def _lines(script: str) -> list[int]:
    return [line for line, _, rule in said(script, name="bench.sh") if rule == "loop-cache"]


@pytest.mark.parametrize(
    ("setup", "target"),
    [
        ("DEV=$(losetup -f --show img)", "--filename=$DEV"),
        ("DEV=$(sudo losetup --find --show -P img)", '--filename="${DEV}"'),
        ("DEV=`losetup -fP --show img`", "--filename=$DEV"),
        ("DEV=$(losetup --direct-io=off -f --show img)", "--filename=$DEV"),
        ("losetup /dev/loop7 img", "--filename=/dev/loop7"),
        ("DEV=$(losetup -f --show img); mount $DEV /mnt/x", "--directory=/mnt/x"),
        ("mount -o loop,noatime img /mnt/x", "--filename=/mnt/x/f"),
    ],
)
def test_a_loop_device_with_a_cache(setup: str, target: str) -> None:
    assert _lines(f"{setup}\nfio --name=a {target} {_OPTIONS}\n") == [2]
    assert _lines(f"{setup}\nfio --name=a --filename=/mnt/y/f {_OPTIONS}\n") == []


@pytest.mark.parametrize(
    ("setup", "target"),
    [
        ("DEV=$(losetup -f --show --direct-io=on img)", "--filename=$DEV"),
        ("DEV=$(losetup --direct-io -f --show img)", "--filename=$DEV"),
        ("DEV=$(losetup -f --show img); losetup --direct-io=on $DEV", "--filename=$DEV"),
        ("DEV=$(losetup -j img)", "--filename=$DEV"),
        ("losetup /dev/loop7 img; losetup -d /dev/loop7", "--filename=/dev/loop7"),
        ("mount -o loop img /mnt/x; umount /mnt/x", "--directory=/mnt/x"),
        ("mount -o noatime /dev/sdb1 /mnt/x", "--directory=/mnt/x"),
    ],
)
def test_a_loop_device_without_a_cache(setup: str, target: str) -> None:
    assert _lines(f"{setup}\nfio --name=a {target} {_OPTIONS}\n") == []
