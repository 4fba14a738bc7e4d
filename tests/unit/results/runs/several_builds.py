"""Runs with several builds of each layout, created without measuring anything."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from poolproof.metrics import TrialMetrics
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.loading import LoadedRun, load_run
from poolproof.results.runs.model import Convergence, Trial
from poolproof.rules.model import Finding
from tests.unit.results.compare.making import RECORD

Builds = Sequence[Sequence[float]]
"""The values of a cell's trials, as one sequence per build."""

FAILED = -1.0
APART = [[100.0, 100.1], [130.0, 130.1], [90.0, 90.1], [112.0, 112.1]]
"""Values that agree within a build but differ between builds."""
MEANS = [math.fsum(build) / 2 for build in APART]
SHIFTED = [[each * 1.05 for each in build] for build in reversed(APART)]


def campaign(measure: str = "time: 5s", more: str = "", builds: int = 4, workloads: int = 1) -> str:
    names = ", ".join(f"w{number}: {{rw: randread, size: {number + 1}m}}" for number in range(workloads))
    return (
        "name: t\ndevices: {a: {file: 2G}, b: {file: 2G}}\nlayouts: {one: zfs a, two: zfs a log b}\n"
        f"workloads: {{{names}}}\nmeasure: {{{measure}, trials: 2, builds: {builds}}}\n{more}"
    )


def trial(layout: str, workload: str, number: int, build: int, value: float) -> Trial:
    if value == FAILED:
        why = (Finding("work-done", "fails", "mkfs.ext4 failed", "look at dmesg"),)
        return Trial(layout, workload, number, "failed", why, "iops", build=build)
    settling = Convergence(True, 0, 3, 180, 0.999, 1.001, error_share=0.0005, freedom=20)
    figures = TrialMetrics(iops=value, bandwidth_bytes=value)
    return Trial(layout, workload, number, "sound", (), "iops", figures, settling=settling, build=build)


def run_of(path: Path, text: str, cells: Mapping[tuple[str, str], Builds]) -> LoadedRun:
    directory = RunDirectory.create(path, text, replace(RECORD, campaign=text))
    for (layout, workload), builds in cells.items():
        values = [(build, value) for build, own in enumerate(builds, start=1) for value in own]
        for number, (build, value) in enumerate(values, start=1):
            directory.append(trial(layout, workload, number, build, value))
    return load_run(path)


def two(path: Path, text: str | None = None, one: Builds = APART, other: Builds = SHIFTED) -> LoadedRun:
    return run_of(path, text or campaign(), {("one", "w0"): one, ("two", "w0"): other})
