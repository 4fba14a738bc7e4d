"""A file as a vdev: where it is stored, how long it is, and that only a pool can use it."""

import pytest

from poolproof.errors import CampaignError
from poolproof.layers.tree import capacity_bytes, devices
from tests.golden import Message

from .ground import GIB, SITE, plan, resolve


def test_a_mirror_of_files_is_made_of_files_on_their_file_systems() -> None:
    planned = plan("zfs mirror (a | ext4 | file 1G) (b | ext4 | file 1G)")
    truncated = [step.argv for step in planned.make if step.argv[0] == "truncate"]
    paths = [argv[-1] for argv in truncated]
    assert [argv[:3] for argv in truncated] == [("truncate", "-s", str(GIB))] * 2
    assert all(path.startswith(SITE.mount_dir) and path.endswith(".vdev") for path in paths)
    (create,) = [step for step in planned.make if "zpool" in " ".join(step.argv) and "create" in " ".join(step.argv)]
    assert all(path in " ".join(create.argv) for path in paths)
    assert {leaf.name for leaf in planned.leaves} == {"a", "b"}, "bytes are counted at the disks below"


def test_no_more_fits_than_the_file_or_the_disk_below_it_holds() -> None:
    node = resolve("a | ext4 | file 1G")
    assert devices(node) == ("a",)
    assert capacity_bytes(node, {"a": 8 * GIB}) == GIB
    assert capacity_bytes(node, {"a": GIB}) < GIB


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("file 1G", "file system"),
        ("a | file 1G", "directories"),
        ("a | ext4 | file", "size"),
        ("a | ext4 | file big", "not a size|no size"),
        ("a | ext4 | file 1G 2G", "only"),
        ("a | btrfs | file 1G | ext4", "only zfs"),
        ("md raid1 (a | ext4 | file 1G) b", "only zfs"),
        ("btrfs raid1 a (b | xfs | file 1G)", "only zfs"),
    ],
)
def test_mistakes(text: str, fact: str, message: Message) -> None:
    with pytest.raises(CampaignError, match=fact) as caught:
        resolve(text)
    message(caught.value)
