"""autotier: configuration and commands, as far as they can be known without the programs, which no package brings."""

import pytest

from poolproof.layers import open_layout
from poolproof.layers.autotier_status import quotas_of
from poolproof.steps import UndoCommand, UndoDaemon, UndoTree, unmount

from .ground import plan
from .recorded import RecordedHost

MNT = "/run/poolproof/r1/mnt"
POINT = f"{MNT}/mix-autotier"
TEXT = "autotier (a | ext4) quota=20% (b | ext4) quota=5G tier-period=-1 log-level=0 copy-buffer-size=4M"

# the table of release 1.2, by its source (process_status); the quota as the seed's author would have seen it
STATUS = """\
Tier         Size     Quota  Quota %       Use  Use %  Path
combined    38.14 GiB    8.81 GiB    23.11 %    0.00 B      0.00 % /mnt/x
tier1       19.07 GiB  381.47 GiB  2000.00 %    0.00 B      0.00 % /mnt/a
tier2       19.07 GiB    5.00 GiB    26.22 %    0.00 B      0.00 % /mnt/b
"""


def test_the_configuration() -> None:
    (written,) = (step for step in plan(TEXT).make if step.argv == ("tee", f"{POINT}.conf"))
    assert written.stdin == (
        "[Global]\nTier Period = -1\nLog Level = 0\nCopy Buffer Size = 4M\n"
        f"Run Path = {POINT}.d\n"
        f"[tier1]\nPath = {MNT}/mix-ext4-1\nQuota = 20 %\n"
        f"[tier2]\nPath = {MNT}/mix-ext4-2\nQuota = 5368709120 B\n"
    )
    assert written.undo == UndoTree(f"{POINT}.conf")


def test_it_is_mounted_in_the_background_and_expected_to_hang() -> None:
    started, noted = plan(TEXT).open[-2:]
    assert started.argv[-6:] == (
        *("autotierfs", "-c", f"{POINT}.conf", POINT),
        *("-o", "allow_other,default_permissions"),
    )
    assert "setsid" in started.argv[6]
    assert started.log == f"{POINT}.log"
    assert started.undo == unmount(POINT, fuse=True)
    assert isinstance(started.undo, UndoCommand)
    assert started.undo.last_resort == ("umount", "-l", POINT)
    assert noted.undo == UndoDaemon(f"{POINT}.pid", f"{POINT}.conf")
    stopped = plan(TEXT).close[0]
    assert stopped.argv[3:] == (POINT, f"{POINT}.pid", f"{POINT}.conf", f"{POINT}.d")
    assert all(step.timeout_s <= 60 for step in (started, noted, stopped))


def test_quotas_that_are_not_what_was_asked_for_are_told() -> None:
    built = plan(TEXT)
    asked = ("autotier", "-c", f"{POINT}.conf", "status")
    assert open_layout.doubts(built, RecordedHost({asked: STATUS})) == (
        "autotier's quotas are not what was asked for: tier1 has 2000 % instead of 20 %",
    )
    assert open_layout.doubts(built, RecordedHost({asked: STATUS.replace("2000.00", "20.00")})) == ()
    (doubt,) = open_layout.doubts(built, RecordedHost())
    assert "does not tell its quotas" in doubt


@pytest.mark.parametrize("text", ["", "Socket connection refused. Is autotier mounted?"])
def test_no_table_no_quotas(text: str) -> None:
    assert quotas_of(text) == ()


def test_the_table_of_the_status() -> None:
    assert quotas_of(STATUS) == (2000.0, 26.22)
