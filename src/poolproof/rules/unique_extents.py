"""More bytes moved than there are."""

from collections.abc import Iterable

from poolproof.rules.flow import cold_reads, writes
from poolproof.rules.model import Case, Effect, Finding, Rule
from poolproof.rules.path import all_go_past_ram, is_taken_at_its_word
from poolproof.rules.reported import Kind, moved_bytes
from poolproof.rules.reproduction import script
from poolproof.units import format_size

_MORE = 1.05


def _in_result(case: Case) -> Iterable[Finding]:
    unique = case.load.unique_bytes
    if not unique or all_go_past_ram(case):
        return
    if case.cold and cold_reads(case) is None:
        yield from _against(case, "read", unique)
    if writes(case) is None and not _commits_all(case):
        yield from _against(case, "write", unique)


def _commits_all(case: Case) -> bool:
    """RAM takes no repeats where every single write is waited for until it is safe."""
    return all(job.commits_each_write for job in case.load.parts if job.writes)


def _against(case: Case, kind: Kind, unique: int) -> Iterable[Finding]:
    moved = moved_bytes(case.outcome, kind)
    if moved is None or moved <= _MORE * unique:
        return
    trusted = all(is_taken_at_its_word(job, case.target) for job in case.load.parts)
    effect: Effect = "notes" if trusted else "suspects"
    did, ram = (
        ("read", "serve all but the first pass") if kind == "read" else ("wrote", "take the repeats as overwrites")
    )
    yield Finding(
        rule="unique-extents",
        effect=effect,
        message=f"fio {did} {format_size(moved)}, but the job can touch only {format_size(unique)}: each block "
        f"{moved / unique:.3g} times on average, and RAM can {ram}; nothing here counts what the disks did",
        fix="size of twice RAM and one pass (no time_based), or run it under poolproof, which counts the disks",
        weight=65,
    )


RULE = Rule(
    id="unique-extents",
    title="The same bytes, again and again",
    wrong="The job moved more bytes than it can touch, so blocks came round again. With a cache in the way, only the "
    "first round meets the disk.",
    shows="In a result without counters: bytes moved are more than the bytes that all jobs can touch. With counters "
    "the byte account decides instead: an honest run with 16 rounds was seen, and its ratio was 1.0. Writes that are "
    "committed one by one (fsync=1, sync=1) meet the disk in every round.",
    error="High, up to the number of rounds. Inflated results had 20 to 135 rounds.",
    fix="More data than memory, one pass; or counters beside fio.",
    sources=("measured cases L02, L04",),
    pitfall_numbers="A9",
    in_result=_in_result,
    explains_lost={"read": "in RAM already: the same blocks again", "write": "overwritten in memory"},
    reproduce=script(
        "fio --name=trap --filename=trap --rw=read --bs=1m --size=256m --time_based --runtime=5 --invalidate=0"
    ),
)
