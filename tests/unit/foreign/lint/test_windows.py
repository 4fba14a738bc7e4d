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


@pytest.mark.parametrize("program", ["fio.exe", ".\\fio.exe", "C:\\fio\\fio.exe", "& fio.exe"])
def test_a_program_for_windows_has_the_default_engine_of_windows(program: str) -> None:
    options = "--name=a --rw=randread --bs=4k --size=8g --direct=1 --iodepth=32 --filename=t.dat"
    assert rules(f"{program} {options}\n", name="bench.ps1") == set()
    assert "iodepth-with-sync-engine" in rules(f"{program} {options} --ioengine=psync\n", name="bench.ps1")
    assert "iodepth-with-sync-engine" in rules(f"fio {options}\n", name="bench.sh")


def test_a_placeholder_of_several_words_in_a_path() -> None:
    text = "fio.exe --name=a --rw=read --direct=1 --size=5G --filename=\\\\<mount point dns>\\share\\t\n"
    assert rules(text, name="bench.txt") == {"unknown-variable"}
    assert "no-job" in rules("fio --name=a --rw=read --direct=1 --size=5G point\n", name="bench.txt")


def test_parameters_of_powershell() -> None:
    call = "& fio.exe --name=a --filename=$file --rw=read --bs=1M --size=$Size --runtime=$Seconds --direct=1"
    for seconds, is_early in (("30", True), ("1", False)):
        text = f"param(\n    [string]$Size = '4G',\n    [int]$Seconds = {seconds}\n)\n{call}\n"
        assert ("runtime-without-time-based" in rules(text, name="bench.ps1")) == is_early


def test_a_backslash_of_powershell_is_no_escape() -> None:
    script = (
        'if (-not (Test-Path "$drive\\")) {\n  Write-Host "no $drive"\n}\n'
        "& fio.exe --name=a `\n  --filename=D\\:\\f.dat `\n  --rw=read --bs=1m --size=4G --runtime=30 --direct=1\n"
    )
    assert rules(script, name="bench.ps1") == {"runtime-without-time-based"}


def test_a_path_with_a_drive_is_one_of_windows() -> None:
    options = "--name=a --rw=read --direct=1 --size=9g --bs=64k --iodepth=32 --filename=a.dat\n"
    assert "iodepth-with-sync-engine" not in rules(f"C:\\Tools\\fio-3.16-x64\\fio {options}", name="page.adoc")
    assert "iodepth-with-sync-engine" in rules(f"fio {options}", name="page.adoc")
