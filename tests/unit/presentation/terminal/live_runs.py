"""Campaigns and trials for tests of progress, with a clock that the test can set."""

import io
from dataclasses import dataclass
from datetime import UTC, datetime

from rich.console import Console

from poolproof.campaign.model import Campaign
from poolproof.campaign.yaml import parse_campaign
from poolproof.metrics import TrialMetrics
from poolproof.presentation.terminal.live_screen import screen
from poolproof.presentation.terminal.progress import RunProgress
from poolproof.results.runs.model import Trial
from poolproof.rules.model import Finding
from poolproof.verdicts import Verdict
from tests.unit.results.compare.making import EFFECTS

START_S = 1_800_000_000.0


@dataclass
class Clock:
    """A clock that returns the time set by the test, in seconds since 1970."""

    now_s: float = START_S

    def __call__(self) -> float:
        return self.now_s


def campaign(layouts: int = 2, workloads: int = 2, trials: int = 2) -> Campaign:
    """Return a campaign with the layouts l0, l1 … and the workloads w0, w1 …"""
    text = "question: Which?\ndevices: {a: {file: 2G}}\nlayouts:\n"
    text += "".join(f"  l{number}: a | ext4\n" for number in range(layouts)) + "workloads:\n"
    text += "".join(f"  w{number}: {{rw: randread, bs: 4k, size: 64m}}\n" for number in range(workloads))
    return parse_campaign(f"{text}measure: {{trials: {trials}, time: 5s}}\n", "t")


def trial(
    layout: str,
    workload: str,
    number: int = 1,
    verdict: Verdict = "sound",
    *,
    begun_s: float = START_S,
    took_s: float = 10.0,
    message: str = "50 MiB went missing",
) -> Trial:
    effect = EFFECTS.get(verdict)
    return Trial(
        layout=layout,
        workload=workload,
        number=number,
        verdict=verdict,
        findings=(Finding("write-vanished", effect, message, "write it anew"),) if effect else (),
        metric="iops",
        figures=TrialMetrics(iops=1000.0, bandwidth_bytes=4.096e6),
        begun_at=datetime.fromtimestamp(begun_s, UTC).isoformat(timespec="milliseconds"),
        seconds={"cool": 1.0, "fio": took_s - 1.0},
    )


def screen_text(progress: RunProgress, width: int = 80, height: int = 24) -> list[str]:
    """Return the lines of the screen as rich prints them on a terminal of the given size."""
    console = Console(width=width, height=height, color_system=None, file=io.StringIO())
    with console.capture() as captured:
        console.print(screen(progress, "Ctrl-C stops it", width, height))
    return [line.rstrip() for line in captured.get().splitlines()]
