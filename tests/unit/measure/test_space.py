"""Images and test files must fit on the host's own file systems, both before a run and during it."""

import contextlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import BuildError, CampaignError, HostError, PoolproofError
from poolproof.facts import machine
from poolproof.hosts.base import Hosts, HostUnreachable
from poolproof.hosts.local import LocalHost
from poolproof.measure import free_space
from poolproof.measure.free_space import FreeSpace, MonitoredDirectory, enough_space
from poolproof.measure.space import SPARE_BYTES
from poolproof.process import Completed
from poolproof.provision import layout_plan
from tests.golden import Message

from .scripted_host import CAMPAIGN, Argv, ScriptedHost, planned, script

MIB = 1024**2


class Disk:
    """A host that answers only questions about free space."""

    def __init__(self, free_bytes: int, free_files: int | None = None) -> None:
        self.free_bytes, self.free_files = free_bytes, free_files

    def answer(self, argv: Argv) -> Completed | None:
        if free_space.FREE not in argv:
            return None
        files = "0 0" if self.free_files is None else f"1000000 {self.free_files}"
        return Completed(argv, 0, f"{self.free_bytes} 1 ef53 {files}\n", "", 0.0)


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
    monkeypatch.setattr(free_space, "EVERY_S", 0.01)
    disk, stopped = Disk(1024 * MIB), list[float]()
    with (
        pytest.raises(BuildError, match=r" 10 MiB ") as caught,
        enough_space(
            _host(disk), [MonitoredDirectory("/var/tmp", 1024 * MIB)], lambda: stopped.append(time.monotonic())
        ) as check,
    ):
        check()
        disk.free_bytes = 10 * MIB
        deadline = time.monotonic() + 5
        while len(stopped) < 2 and time.monotonic() < deadline:  # again, in case the first came between two loads
            time.sleep(0.01)
        check()
    assert len(stopped) >= 2
    assert "resume" not in caught.value.hint  # it would not repeat the failed trials


def test_a_file_system_with_little_space_must_keep_an_eighth_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_space, "EVERY_S", 0.01)
    disk = Disk(80 * MIB)
    with enough_space(_host(disk), [MonitoredDirectory("/var/tmp", 80 * MIB)], pytest.fail) as check:
        disk.free_bytes = 11 * MIB
        time.sleep(0.2)
        check()


def test_a_file_system_that_runs_out_of_inodes_stops_the_layout_in_time(
    monkeypatch: pytest.MonkeyPatch, message: Message
) -> None:
    monkeypatch.setattr(free_space, "EVERY_S", 0.01)
    disk, stopped = Disk(1024 * MIB, 100_000), list[float]()
    with (
        pytest.raises(BuildError, match="only 2400 free inodes") as caught,
        enough_space(
            _host(disk), [MonitoredDirectory("/srv", 0, 98_000)], lambda: stopped.append(time.monotonic())
        ) as check,
    ):
        disk.free_files = 2_500
        time.sleep(0.2)
        check()
        disk.free_files = 2_400
        deadline = time.monotonic() + 5
        while len(stopped) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        check()
    assert len(stopped) >= 2
    assert message(caught.value)


@pytest.mark.parametrize(("free", "left", "is_stopped"), [(800, 120, False), (800, 80, True), (None, None, False)])
def test_a_file_system_with_few_inodes_must_keep_an_eighth_of_them(
    monkeypatch: pytest.MonkeyPatch, free: int | None, left: int | None, is_stopped: bool
) -> None:
    monkeypatch.setattr(free_space, "EVERY_S", 0.01)
    disk, stopped = Disk(1024 * MIB, free), list[float]()
    with (
        contextlib.suppress(BuildError),
        enough_space(_host(disk), [MonitoredDirectory("/srv")], lambda: stopped.append(0)),
    ):
        disk.free_files = left
        time.sleep(0.2)
    assert bool(stopped) == is_stopped


class _LittleRam(LocalHost):
    """This machine, with 1600 MiB of RAM, of which 300 MiB are available."""

    def read(self, path: str) -> str:
        if path == "/proc/meminfo":
            return "MemTotal: 1638400 kB\nMemFree: 102400 kB\nMemAvailable: 307200 kB\n"
        return super().read(path)


@pytest.fixture
def in_ram() -> Iterator[Path]:
    """A directory on a tmpfs, which may be larger than the RAM that is available."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def test_a_file_system_in_ram_has_no_more_space_than_the_machine_has_ram_to_spare(in_ram: Path) -> None:
    """Otherwise, the kernel would end programs of the machine while test files are written."""
    found = free_space.free_space(_LittleRam(), str(in_ram))
    assert found is not None
    assert (found.free_bytes, found.is_in_ram) == (200 * MIB, True)
    campaign = parse_campaign(
        f"layouts: {{one: dir {in_ram}}}\nworkloads: {{w: {{rw: read, bs: 4k, size: 4m}}}}\n", "a.yaml"
    )
    assert layout_plan._directory_of(campaign, _LittleRam(), str(in_ram), ()).size_bytes == 200 * MIB


def test_a_load_is_stopped_if_its_files_take_too_much_ram(monkeypatch: pytest.MonkeyPatch, in_ram: Path) -> None:
    monkeypatch.setattr(free_space, "EVERY_S", 0.01)
    stopped = list[float]()
    with (
        contextlib.suppress(BuildError),
        enough_space(LocalHost(), [MonitoredDirectory(str(in_ram))], lambda: stopped.append(0)),
    ):
        time.sleep(0.2)
        assert not stopped
        monkeypatch.setattr(machine, "_SPARE_RAM", 1)  # as if all of the RAM had to stay available
        time.sleep(0.5)
    assert stopped


class Fast:
    """A file system on this machine to which a load writes until it is stopped."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        free_bytes: int,
        bytes_per_s: float,
        files: int = 10_000_000,
        files_per_s: float = 0.0,
    ) -> None:
        self.begun: float | None = None
        self.stopped_at: float | None = None
        self.checks = 0
        self._free_bytes, self._rate = free_bytes, bytes_per_s
        self._files, self._files_per_s = files, files_per_s
        monkeypatch.setattr(free_space, "free_space", lambda *_: FreeSpace(free_bytes, False, files))
        monkeypatch.setattr("os.statvfs", self._statvfs)

    def free(self) -> int:
        return int(self._free_bytes - self._rate * self._took_s())

    def free_files(self) -> int:
        return int(self._files - self._files_per_s * self._took_s())

    def _took_s(self) -> float:
        now = time.monotonic() if self.stopped_at is None else self.stopped_at
        return now - (self.begun or now)

    def stop(self) -> None:
        self.stopped_at = self.stopped_at or time.monotonic()

    def _statvfs(self, directory: str) -> SimpleNamespace:
        assert directory == "/srv"
        self.checks += 1
        return SimpleNamespace(
            f_bavail=max(0, self.free()), f_frsize=1, f_files=2 * self._files, f_ffree=max(0, self.free_files())
        )

    def write(self, places: list[MonitoredDirectory], *, until_bytes: int) -> PoolproofError | None:
        """Write until the load is stopped or only `until_bytes` are left, and return the error if it was stopped."""
        try:
            with enough_space(LocalHost(), places, self.stop) as check:
                self.begun = time.monotonic()
                while self.stopped_at is None and self.free() > until_bytes and self.free_files() > 0:
                    time.sleep(0.01)
                self.stop()
                check()
        except PoolproofError as error:
            return error
        return None


def test_a_fast_load_that_was_not_counted_is_stopped_before_the_next_check_would_find_nothing_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A check every 2 s with a margin of 64 MiB would let it fill the file system."""
    disk = Fast(monkeypatch, 1800 * MIB, 1024 * MIB)
    error = disk.write([MonitoredDirectory("/srv", 200 * MIB)], until_bytes=0)
    assert isinstance(error, BuildError) and "filling up at " in error.message
    assert disk.free() > 100 * MIB


def test_a_load_that_creates_many_more_files_than_planned_is_stopped_before_no_inode_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk = Fast(monkeypatch, 1024 * 1024 * MIB, MIB, 100_000, 50_000)
    error = disk.write([MonitoredDirectory("/srv")], until_bytes=0)
    assert isinstance(error, BuildError) and " and uses up " in error.message
    assert disk.free_files() > 10_000


def test_a_fast_load_that_was_counted_may_leave_what_was_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Fast(monkeypatch, 1800 * MIB, 1024 * MIB)
    assert disk.write([MonitoredDirectory("/srv", 1600 * MIB)], until_bytes=500 * MIB) is None
    assert disk.free() <= 500 * MIB and disk.checks > 3


def test_a_file_system_with_much_space_is_checked_only_every_two_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Fast(monkeypatch, 1024 * 1024 * MIB, 100 * MIB)
    assert disk.write([MonitoredDirectory("/srv")], until_bytes=(1024 * 1024 - 100) * MIB) is None  # for a second
    assert disk.checks == 0


def test_a_lost_connection_is_left_to_the_thread_that_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check goes on, so it still stops the work if the connection returns and the file system is almost full."""
    disk, stopped = Disk(1024 * 1024 * MIB), list[float]()
    failures = iter((False, True, True))

    def answer(argv: Argv) -> Completed | None:
        if next(failures, False):
            disk.free_bytes = 0
            raise HostUnreachable("the connection was lost", "ssh nas1 true")
        return disk.answer(argv)

    monkeypatch.setattr(free_space, "EVERY_S", 0.01)
    host = ScriptedHost(script(), instead=answer)
    with (
        pytest.raises(BuildError, match="has only"),
        enough_space(host, [MonitoredDirectory("/srv")], lambda: stopped.append(time.monotonic())) as check,
    ):
        deadline = time.monotonic() + 5
        while not stopped and time.monotonic() < deadline:
            time.sleep(0.01)
        check()
    assert next(failures, None) is None


@pytest.mark.parametrize(("kind", "is_quick"), [("ef53", True), ("6969", False), ("65735546", False), ("", False)])
def test_a_file_system_that_may_hang_is_asked_by_a_command_that_can_be_killed(
    monkeypatch: pytest.MonkeyPatch, kind: str, is_quick: bool
) -> None:
    asked: list[Argv] = []

    class Here(LocalHost):
        def run(
            self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True
        ) -> Completed:
            assert timeout_s > 0 and stdin is None and not check
            asked.append(tuple(argv))
            return Completed(tuple(argv), 0, f"{1024 * MIB} 1 {kind}\n", "", 0.0)

    monkeypatch.setattr(free_space, "EVERY_S", 0.01)
    calls: list[str] = []

    def statvfs(path: str) -> SimpleNamespace:
        calls.append(path)
        return SimpleNamespace(f_bavail=MIB, f_frsize=1024, f_files=0, f_ffree=0)

    monkeypatch.setattr("os.statvfs", statvfs)
    with enough_space(Hosts(Here(), {}), [MonitoredDirectory("/srv")], pytest.fail):
        time.sleep(0.3)
    assert (bool(calls), len(asked) == 1) == (is_quick, is_quick)
