"""Posts with real output of fio 3.33: each result is matched with its command, and honest runs are not suspect."""

from pathlib import Path

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text
from tests.golden import Message

POSTS = Path(__file__).parent / "posts"
READS = "  read: IOPS=30.1k, BW=118MiB/s (123MB/s)(7054MiB/60001msec)\n"
LARGER = "  read: IOPS=20.0k, BW=156MiB/s (164MB/s)(9375MiB/60001msec)\n"
WRITES = "  write: IOPS=12.0k, BW=46.9MiB/s (49.2MB/s)(2813MiB/60002msec); 0 zone resets\n"


def _posted(name: str) -> Audited:
    (audited,) = audit_text(name, (POSTS / name).read_text(encoding="utf-8"), Context())
    return audited


def _rules(audited: Audited) -> set[str]:
    return {finding.rule for finding in audited.findings}


def _command(name: str, rw: str, block: str = "4k", runtime: int = 60) -> str:
    return f"fio --name={name} --rw={rw} --bs={block} --direct=1 --size=10g --runtime={runtime} --time_based\n"


def _names(text: str) -> list[tuple[str | None, bool]]:
    """Return, for each result, the job name in its command, and whether the command is only assumed to belong to it."""
    return [
        (audited.command.split("--name=")[1].split()[0] if audited.command else None, audited.is_assumed)
        for audited in audit_text("post", text, Context())
    ]


@pytest.mark.parametrize("name", ["clones-apart.txt", "verify.txt", "trim.txt", "steadystate.txt"])
def test_the_command_right_above_made_it(name: str) -> None:
    audited = _posted(name)
    assert audited.command is not None and audited.command.startswith("fio --name=")
    assert not audited.is_assumed


def test_a_run_that_reached_steady_state_early_did_its_work() -> None:
    audited = _posted("steadystate.txt")
    assert not _rules(audited) & {"work-done", "runtime-without-time-based"}
    assert audited.verdict != "failed"


def test_trims_are_work() -> None:
    audited = _posted("trim.txt")
    assert {each.rule for each in audited.findings if each.effect != "notes"} == {"volatile-target"}, (
        "the engine is null"
    )


def test_json_with_more_bytes_than_the_size_was_time_based(message: Message) -> None:
    audited = _posted("interrupted-json.txt")
    assert audited.verdict == "failed"
    assert "runtime-without-time-based" not in _rules(audited)
    assert "ended" in message(audited.findings[0].message)


def test_consecutive_commands_are_assigned_to_results_in_order() -> None:
    commands = _command("first", "randread") + _command("second", "randread")
    assert _names(f"{commands}\nResults:\n\n{READS}\nand\n\n{READS}") == [("first", True), ("second", True)]
    assert _names(f"{commands}\nOnly one:\n\n{READS}") == [("second", True)]


def test_a_command_quoted_twice_counts_once() -> None:
    assert _names(_command("a", "randread") + "that is\n" + _command("a", "randread") + READS) == [("a", False)]


def test_a_result_may_be_above_its_command() -> None:
    reads, writes = _command("r", "randread"), _command("w", "randwrite")
    assert _names(f"{READS}\nwith\n\n{reads}\nand\n\n{WRITES}\nwith\n\n{writes}") == [("r", True), ("w", True)]
    twice = f"{READS}\nwith\n\n{reads}\nand\n\n{READS}\nwith\n\n{_command('other', 'randread')}"
    assert _names(twice) == [("r", True), ("other", True)]


def test_a_different_block_size_means_another_command() -> None:
    text = _command("small", "randread") + _command("large", "randread", "8k")
    assert _names(f"{text}{READS}\nand\n\n{LARGER}") == [("small", True), ("large", True)]
    assert _names(_command("large", "randread", "8k") + READS) == [(None, False)]


def test_a_much_longer_run_means_another_command() -> None:
    assert _names(_command("short", "randread", runtime=5) + READS) == [(None, False)]


def test_an_unspecified_engine_is_the_default_of_the_system() -> None:
    header = (
        "a: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=windowsaio, iodepth=1\n"
        "fio-3.33\na: (groupid=0, jobs=1): err= 0: pid=1: Sat\n"
    )
    assert _names(_command("a", "randread") + header + READS) == [("a", False)]
