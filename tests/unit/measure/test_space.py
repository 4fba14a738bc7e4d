"""Images and test files must fit on the host's own file systems, both before a run and during it."""

import time
from pathlib import Path

import pytest

from poolproof.errors import BuildError, CampaignError, HostError
from poolproof.measure import space
from poolproof.measure.space import SPARE_BYTES, enough_space
from poolproof.process import Completed
from tests.golden import Message

from .scripted_host import CAMPAIGN, Argv, ScriptedHost, planned, script

MIB = 1024**2


class Disk:
    """A host that answers only questions about free space."""

    def __init__(self, free_bytes: int) -> None:
        self.free_bytes = free_bytes

    def answer(self, argv: Argv) -> Completed | None:
        if space.FREE not in argv:
            return None
        return Completed(argv, 0, f"{self.free_bytes} 1\n", "", 0.0)


def _host(disk: Disk) -> ScriptedHost:
    return ScriptedHost(script(), instead=disk.answer)


def test_images_that_do_not_fit_are_refused_before_anything_is_built(tmp_path: Path, message: Message) -> None:
    host = _host(Disk(SPARE_BYTES + 10 * MIB))
    with pytest.raises(HostError, match=r"\bspace .* layout ") as caught:
        planned(host, tmp_path / "run", CAMPAIGN)
    message(caught.value)
    assert "--work" in caught.value.hint
    assert not any(argv[0] in ("truncate", "losetup", "mkdir") for argv in host.ran if "--list" not in argv)


def test_files_that_are_larger_than_the_part_in_use_must_fit(tmp_path: Path) -> None:
    """fio would write all 900 GiB, so that other programs find the file system full."""
    host = _host(Disk(100 * 1024 * MIB))
    with pytest.raises(CampaignError, match=r"test files take \d+ GiB"):
        planned(
            host, tmp_path / "run", CAMPAIGN.replace("iodepth: 4, size: 8m", "iodepth: 4, size: 8m, filesize: 900g")
        )
    with pytest.raises(HostError, match="not enough space for the images"):
        planned(_host(Disk(SPARE_BYTES + 90 * MIB)), tmp_path / "run", CAMPAIGN.replace("8m}", "8m, filesize: 64m}", 1))


def test_images_that_fit_are_planned(tmp_path: Path) -> None:
    assert planned(_host(Disk(100 * 1024 * MIB)), tmp_path / "run", CAMPAIGN)


def test_a_file_system_that_fills_up_stops_the_layout_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space, "EVERY_S", 0.01)
    disk, stopped = Disk(1024 * MIB), list[float]()
    with (
        pytest.raises(BuildError, match=r" 10 MiB ") as caught,
        enough_space(_host(disk), ["/var/tmp"], lambda: stopped.append(time.monotonic())) as check,
    ):
        check()
        disk.free_bytes = 10 * MIB
        deadline = time.monotonic() + 5
        while not stopped and time.monotonic() < deadline:
            time.sleep(0.01)
        check()
    assert len(stopped) == 1
    assert "resume" not in caught.value.hint  # it would not repeat the failed trials


def test_a_file_system_that_was_full_before_is_not_watched() -> None:
    with enough_space(_host(Disk(10 * MIB)), ["/var/tmp"], pytest.fail) as check:
        check()
