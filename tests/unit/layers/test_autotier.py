"""autotier: its configuration and commands, as release 1.2.0 accepts them. Its programs are in no package."""

import pytest

from poolproof.errors import CampaignError
from poolproof.layers import open_layout
from poolproof.layers.autotier import ReportedQuota, reported_quotas
from poolproof.undos import UndoDaemon, UndoMount, UndoTree
from tests.golden import Message

from .ground import plan
from .recorded import RecordedHost

MNT = "/run/poolproof/r1/mnt"
POINT = f"{MNT}/mix-autotier"
TEXT = "autotier (a | ext4) quota=20% (b | ext4) quota=5G tier-period=-1 log-level=0 copy-buffer-size=4M"

# captured from release 1.2.0, with all tiers on one file system of 252 GiB
STATUS = """\
Tier        Size       Quota      Quota %     Use        Use % Path
--------------------------------------------------------------------------------
combined  503.94 GiB   55.39 GiB  10.99 %    4.77 MiB   0.00 % /tmp/autotier/t/mnt
tier1     251.97 GiB   50.39 GiB  20.00 %    4.77 MiB   0.01 % /tmp/autotier/t/fast
tier2     251.97 GiB    5.00 GiB   1.98 %    0.00   B   0.00 % /tmp/autotier/t/slow

"""


def test_the_configuration() -> None:
    (written,) = (step for step in plan(TEXT).make if step.argv == ("tee", f"{POINT}.conf"))
    assert written.stdin == (
        "[Global]\nTier Period = -1\nLog Level = 0\nCopy Buffer Size = 4194304 B\n"
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
    assert started.undo == UndoMount(POINT, lazy=True)
    assert noted.undo == UndoDaemon(f"{POINT}.pid", f"{POINT}.conf")
    stopped = plan(TEXT).close[0]
    assert stopped.unmounts == POINT
    assert stopped.argv[3:] == (POINT, f"{POINT}.pid", f"{POINT}.conf", f"{POINT}.d")
    assert all(step.timeout_s <= 60 for step in (started, noted, stopped))


def test_quotas_that_differ_from_the_layout_are_reported(message: Message) -> None:
    built = plan(TEXT)
    asked = ("autotier", "-c", f"{POINT}.conf", "status")
    assert open_layout.deviations(built, RecordedHost({asked: STATUS})) == ()
    # in practice, a bare `20` became 2000 %, and `5G` became 100 %
    for wrong, said in (
        (STATUS.replace("20.00 %", "2000.00 %"), ("tier1", "2000%", "20%")),
        (STATUS.replace("5.00 GiB   1.98 %", "251.97 GiB 100.00 %"), ("tier2", "252 GiB", "5 GiB")),
    ):
        (doubt,) = open_layout.deviations(built, RecordedHost({asked: wrong}))
        assert all(fact in message(doubt) for fact in said)
    (doubt,) = open_layout.deviations(built, RecordedHost())
    assert "autotier" in message(doubt)


@pytest.mark.parametrize("text", ["", "Socket connection refused. Is autotier mounted?"])
def test_no_table_no_quotas(text: str) -> None:
    assert reported_quotas(text) == ()


def test_the_table_of_the_status() -> None:
    assert reported_quotas(STATUS) == (ReportedQuota(20.0, 50.39 * 1024**3), ReportedQuota(1.98, 5.0 * 1024**3))


def test_a_small_quota_is_written_without_an_exponent() -> None:
    text = "autotier (a | ext4) quota=0.00001% (b | ext4)"
    (written,) = (step for step in plan(text).make if step.argv[0] == "tee")
    assert "Quota = 0.00001 %" in (written.stdin or "")


def test_a_buffer_that_is_no_size_is_a_mistake() -> None:
    with pytest.raises(CampaignError, match="`much`"):
        plan("autotier (a | ext4) (b | ext4) copy-buffer-size=much")
