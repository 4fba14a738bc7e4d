"""The table marks every refuted result, and fits into a terminal with 80 columns."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from poolproof.campaign.flags import campaign_from_flags
from poolproof.evidence.model import Account, LeafUse
from poolproof.metrics import MetricId, TrialMetrics
from poolproof.presentation.terminal.sections import print_shares
from poolproof.presentation.terminal.table import print_table
from poolproof.presentation.terminal.words import (
    MARKS,
    half_width_text,
    range_text,
    speed_text,
    trial_text,
    value_text,
    which_is_better,
)
from poolproof.results.runs.model import Trial
from poolproof.results.runs.summary import Cell, cells_of
from poolproof.rules.model import Finding
from poolproof.statistics.intervals import Interval
from poolproof.verdicts import Verdict
from tests.golden import Message

CAMPAIGN = campaign_from_flags(["hdd=a | ext4", "pair=btrfs raid1 a b"], ["a=file:1G", "b=file:1G"], ["r:rw=randread"])


def trial(layout: str, number: int, iops: float, verdict: Verdict = "sound") -> Trial:
    finding = Finding(
        "read-from-cache", "refutes" if verdict == "refuted" else "notes", "64 MiB came from RAM", "go cold"
    )
    return Trial(
        layout=layout,
        workload="r",
        number=number,
        verdict=verdict,
        findings=(finding,),
        metric="iops",
        figures=TrialMetrics(iops=iops, bandwidth_bytes=iops * 4096),
        account=Account(100, 0, 100, 0, 0, 1.0, 1.0, 0.0),
        leaves=(LeafUse("a", 75, 5, 5, 1, 0, 0, 0.5, 2e-3), LeafUse("b", 25, 5, 5, 1, 0, 0, 0.125, None)),
    )


def cells(verdict: Verdict = "sound") -> tuple[Cell, ...]:
    trials = [trial("hdd", 1, 100.0), trial("hdd", 2, 102.0), *(trial("pair", n, 210.0, verdict) for n in (1, 2))]
    return cells_of(trials, CAMPAIGN)


def printed(cells: tuple[Cell, ...]) -> str:
    out = io.StringIO()
    print_table(Console(file=out, width=80), cells, "hdd")
    return out.getvalue()


def test_a_sound_table_has_figure_interval_verdict_and_factor() -> None:
    text = printed(cells())
    assert "210 IOPS" in text and "✓ sound" in text
    assert "2.08× faster" in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_a_refuted_figure_stands_in_parentheses_with_its_reason_and_fix_and_no_factor() -> None:
    text = printed(cells("refuted"))
    assert "(210 IOPS)" in text and "✗ refuted" in text
    assert "read-from-cache: 64 MiB " in text and "fix: go cold" in text
    assert "%" not in text.split("pair")[1].splitlines()[0].replace("0.1%", "")


def test_an_unproven_result_without_findings_has_its_reason() -> None:
    assert "pair: unproven\n  no counters show what the disks did\n    fix: measure with poolproof run" in printed(
        cells("unproven")
    )


def test_trials_in_two_groups_are_named_with_both_figures_and_what_to_do(message: Message) -> None:
    trials = [trial("hdd", number, iops) for number, iops in enumerate((100.0, 102.0, 2000.0), start=1)]
    text = printed(cells_of(trials, CAMPAIGN))
    assert "101 IOPS ×2" in message(text) and "2.00k IOPS ×1" in text
    assert all(len(line) <= 80 for line in text.splitlines())


def test_trials_that_agree_are_not_spoken_of() -> None:
    assert "two groups" not in printed(cells())


def test_reasons_that_several_layouts_share_say_whose_figures_they_give() -> None:
    trials = [trial(layout, number, 100.0, "refuted") for layout in ("hdd", "pair") for number in (1, 2)]
    text = printed(cells_of(trials, CAMPAIGN))
    assert text.count("64 MiB came") == 1
    assert "✗ r on hdd, pair: refuted" in text and "read-from-cache on hdd: " in text


@pytest.mark.parametrize(("metric", "text"), [("iops", ""), ("bandwidth", ""), ("sync_p99", "lower is better")])
def test_figures_of_which_less_is_better_say_so(metric: MetricId, text: str) -> None:
    assert which_is_better(metric) == text


def test_a_table_of_latencies_says_that_less_is_better_and_cuts_nothing_off_at_80_columns() -> None:
    rates = [trial("hdd", 1, 100.0, "refuted"), trial("pair", 1, 2000.0), trial("pair", 2, 2100.0)]
    slow = [
        replace(each, metric="sync_p99", figures=TrialMetrics(iops=1.0, bandwidth_bytes=1.0, sync_p99_ns=3e7))
        for each in rates
    ]
    text = printed(cells_of(slow, CAMPAIGN))
    (heading,) = [line for line in text.splitlines() if "p99 of fsync" in line]
    assert heading.rstrip().endswith("lower is better")
    assert "…" not in text


@pytest.mark.parametrize(
    ("workload", "lines"),
    [
        ("reads", ["reads, p99 of fsync          lower is better"]),
        ("many-small-reads", ["many-small-reads, p99 of fsync", " " * 29 + "lower is better"]),
    ],
)
def test_a_narrow_terminal_does_not_wrap_a_heading(workload: str, lines: list[str]) -> None:
    figures = TrialMetrics(iops=1.0, bandwidth_bytes=1.0, sync_p99_ns=3e7)
    trials = [replace(trial(name, 1, 1.0), metric="sync_p99", figures=figures) for name in ("hdd", "pair")]
    out = io.StringIO()
    shown = tuple(replace(cell, workload=workload) for cell in cells_of(trials, CAMPAIGN))
    print_table(Console(file=out, width=48), shown, "hdd")
    printed_lines = [line.rstrip() for line in out.getvalue().splitlines()]
    assert printed_lines[1 : 1 + len(lines)] == lines
    assert printed_lines[1 + len(lines)].startswith("  hdd ")


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_long_names_cost_no_figure_its_place(width: int) -> None:
    """Names are wrapped. If the terminal is too narrow even for the values, whole lines are wrapped."""
    names = {"hdd": f"hdd-{'long-' * 20}name", "pair": f"pair-{'long-' * 20}name"}
    long = tuple(replace(cell, layout=names[cell.layout], workload="w" * 60) for cell in cells())
    out = io.StringIO()
    console = Console(file=out, width=width)
    print_table(console, long, names["hdd"])
    print_shares(console, long, all_of_them=False, hint="see more")
    rows = [line.split() for line in out.getvalue().splitlines()]
    (pair,) = [row for row in rows if "2.08×" in row]
    assert pair[1:4] == ["210", "IOPS", "0.1%"] and pair[4:6] == ["✓", "sound"]
    assert [row[-6:] for row in rows if row[-6:-2] == ["b", "25%", "–", "–"]] == [
        ["b", "25%", "–", "–", "12%", "–"]
    ] * 2
    folded = "".join(row[0] for row in rows if row)
    assert names["pair"] in folded


def test_the_rest_of_a_wrapped_name_does_not_look_like_a_row() -> None:
    forged = f"{'x' * 30} zfs 900 MB/s ✓ sound"
    out = io.StringIO()
    print_table(
        Console(file=out, width=80), tuple(replace(cell, layout=f"{forged} {cell.layout}") for cell in cells()), None
    )
    lines = out.getvalue().splitlines()
    assert [line for line in lines if "zfs 900" in line]
    assert not [line for line in lines if line.startswith("zfs")]


def test_shares_leave_out_a_direction_in_which_fio_moved_nothing_and_tell_how_long_a_request_took() -> None:
    out = io.StringIO()
    print_shares(Console(file=out, width=80), cells(), all_of_them=False, hint="see more")
    rows = [line.split() for line in out.getvalue().splitlines() if line.strip()]
    assert rows[1][-7:] == ["a", "75%", "–", "–", "50%", "2.00", "ms"]
    assert rows[2][-6:] == ["b", "25%", "–", "–", "12%", "–"]


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(0.85, 0.82, 0.88), "−15% (−18 … −12)"),
        (Interval(1.25, 1.0, 1.5), "+25% (+0 … +50)"),
        (Interval(18.9, 17.5, 20.5), "18.9× faster (17.5 … 20.5)"),
        (Interval(4.0, 5.8e-6, 2.71e6), "4× faster (>25× slower … >400× faster)"),
        (Interval(4.0, 0.8, 20.0), "4× faster (−20% … 20× faster)"),
        (Interval(0.25, 0.05, 1.3), "4× slower (+30% … 20× slower)"),
        (Interval(0.223, 1e-6, 1e6), "4.48× slower (>22.3× faster … >448× slower)"),
        (Interval(250.0, 1.5, 1e6), "250× faster (<2.5 … >25000)"),
        (Interval(1 / 250, 1e-6, 0.6), "250× slower (<2.5 … >25000)"),
        (Interval(60.0, 0.01, 90.0), "60× faster (<−40% … 90× faster)"),
        (Interval(1.03, 0.44, 2.42), "+3% (−56 … +142)"),
        (Interval(1.0, 0.08, 12.5), "+0% (12.5× slower … 12.5× faster)"),
        (Interval(0.0, 0.0, 0.0), "−100% (−100% … −100%)"),
        (Interval(250.0, 200.0, 300.0), "250× faster (200 … 300)"),
        (Interval(1.5, 1e-3, 1e3), "+50% (>66.7× slower … >150× faster)"),
        (Interval(0.55), "−45%"),
        (Interval(0.5), "2× slower"),
        (Interval(1 / 180, 1 / 200, 1 / 160), "180× slower (160 … 200)"),
        (Interval(0.35, 0.32, 0.38), "2.86× slower (2.63 … 3.12)"),
        (Interval(2.0), "2× faster"),
    ],
)
def test_factors_in_words(interval: Interval, text: str) -> None:
    assert speed_text(interval) == text


@pytest.mark.parametrize(
    ("interval", "text"),
    [
        (Interval(1.1, 0.98, 1.3), "−2% … +30%"),
        (Interval(0.3, 0.25, 0.4), "4× slower … 2.5× slower"),
        (Interval(0.8, 1e-6, 1e6), ">125× slower … >80× faster"),
        (Interval(0.8, -1.0, 1.2), ">125× slower … +20%"),
        (Interval(0.0, -1.0, 1.0), "no rate"),
        (Interval(2.0), ""),
    ],
)
def test_a_prediction_interval_in_words(interval: Interval, text: str) -> None:
    assert range_text(interval) == text


def test_figures_in_words() -> None:
    assert value_text(131.4, "iops") == "131 IOPS"
    assert value_text(183e6, "bandwidth") == "183 MB/s"
    assert value_text(9.5e6, "sync_p99") == "9.50 ms"
    assert half_width_text(Interval(100.0, 98.5, 101.5)) == "1.5%"
    assert half_width_text(Interval(100.0)) == ""
    assert trial_text(trial("hdd", 1, 5.0, "failed")) == "no result"


def test_every_verdict_has_a_mark_of_its_own() -> None:
    assert len(set(MARKS.values())) == 5
