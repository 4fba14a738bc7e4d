"""Jobs for Windows, where fio's default engine is windowsaio (os/os-windows.h)."""

import pytest

from tests.unit.foreign.lint.making import rules

_BUFFERED = "--name=a --rw=write --bs=1m --size=8g --thread"


@pytest.mark.parametrize(
    "options", ["--filename=D\\:\\t.dat", "--ioengine=windowsaio --iodepth=8 --filename=t.dat", "--directory=C\\:\\t"]
)
def test_buffered_writes_are_never_synced(options: str) -> None:
    assert "write-without-sync" in rules(f"fio {_BUFFERED} {options}\n", name="bench.bat")
    for synced in ("--direct=1", "--end_fsync=1"):
        assert "write-without-sync" not in rules(f"fio {_BUFFERED} {options} {synced}\n", name="bench.bat")


def test_the_default_engine_has_a_queue() -> None:
    call = "fio --name=a --rw=randread --bs=4k --size=8g --direct=1 --iodepth=32 --filename="
    assert "iodepth-with-sync-engine" in rules(f"{call}/mnt/t.dat\n", name="bench.bat")
    assert rules(f"{call}D\\:\\t.dat\n", name="bench.bat") == set()


def test_a_path_with_blanks_in_a_variable_of_powershell() -> None:
    text = f'$fio = "C:\\Program Files\\fio\\fio.exe"\n& $fio {_BUFFERED} `\n  --filename=E\\:\\t.dat\n'
    assert "write-without-sync" in rules(text, name="bench.ps1")
