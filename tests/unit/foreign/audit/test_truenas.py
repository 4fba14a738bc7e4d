"""Zeros that dd writes to a pool of TrueNAS, which compresses them by default."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text


def _rules(above: str, source: str, target: str) -> set[str]:
    text = (
        f"{above}\n$ dd if={source} of={target} bs=1M count=3000 conv=fdatasync\n"
        "3145728000 bytes (3.1 GB, 2.9 GiB) copied, 1.5 s, 2.1 GB/s\n"
    )
    (found,) = audit_text("post", text, Context())
    return {finding.rule for finding in found.findings if finding.effect == "suspects"}


@pytest.mark.parametrize(
    ("above", "source", "target", "is_compressed"),
    [
        ("My TrueNAS SCALE box:", "/dev/zero", "/mnt/data/x", True),
        ("FreeNAS 11.3 here.", "/dev/zero", "/mnt/data/sub/x", True),
        ("My TrueNAS box:", "/dev/urandom", "/mnt/data/x", False),
        ("My TrueNAS box:", "/dev/zero", "/home/me/x", False),
        ("My TrueNAS box, dataset with compression off:", "/dev/zero", "/mnt/data/x", False),
        ("My Debian box:", "/dev/zero", "/mnt/data/x", False),
    ],
)
def test_zeros_on_a_pool_of_truenas_are_not_stored(
    above: str, source: str, target: str, *, is_compressed: bool
) -> None:
    assert _rules(above, source, target) == ({"zero-buffers"} if is_compressed else set())
