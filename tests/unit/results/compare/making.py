"""Create run directories with given values, without measuring anything."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from poolproof.campaign.yaml import parse_campaign
from poolproof.metrics import TrialMetrics
from poolproof.results.runs.directory import RunDirectory
from poolproof.results.runs.loading import LoadedRun, load_run
from poolproof.results.runs.model import Convergence, RunRecord, Trial
from poolproof.rules.model import Effect, Finding
from poolproof.stopping.model import NotConverged
from poolproof.verdicts import Verdict

CAMPAIGN = """\
name: t
devices: {a: {file: 2G}, b: {file: 2G}, c: {file: 2G}}
layouts:
  one: a | ext4
  pair: btrfs raid1 a b
  union: mergerfs (a | ext4) (b | ext4)
workloads:
  reads: {rw: randread, bs: 4k}
  stream: {rw: read, bs: 1m}
  etcd: etcd
measure: {time: 5s, trials: 3}
"""

RECORD = RunRecord(
    poolproof="0.1.0",
    campaign=CAMPAIGN,
    label="abcd1234",
    state_dir="/var/tmp/poolproof-abcd1234",
    ram_dir="/dev/shm/poolproof-abcd1234",
    seed=7,
    host="local",
    begun_at="2026-11-21T19:30:00+00:00",
    facts={"kernel": "Linux 6.12", "ram_bytes": str(16 * 1024**3)},
    versions={"poolproof": "0.1.0", "fio": "fio-3.33"},
)
EFFECTS: Mapping[Verdict, Effect] = {"refuted": "refutes", "failed": "fails", "suspect": "suspects"}
Values = Mapping[tuple[str, str], Sequence[float]]
"""The values of each cell's trials, keyed by layout and workload. The values for etcd are in nanoseconds."""


def make_run(
    path: Path,
    values: Values,
    *,
    bad: Mapping[tuple[str, str], Verdict] | None = None,
    record: RunRecord = RECORD,
    unsettled: Mapping[tuple[str, str], str] | None = None,
    extremes: tuple[float | None, float | None] = (None, None),
    syncs: Mapping[str, int] | None = None,
) -> Path:
    """Create a run directory whose trials have the given values.

    `bad`: the verdicts of cells that are not sound.
    `unsettled`: the reasons why the trials of some cells did not converge. This requires a record with `until`.
    `extremes`: the lowest and the highest tenth of these trials, relative to the trial's value.
    `syncs`: the number of syncs timed in each trial of a layout.
    """
    run = RunDirectory.create(path, record.campaign, record)
    metrics = {
        workload.name: workload.metric for workload in parse_campaign(record.campaign, "t", recorded=True).workloads
    }
    for (layout, workload), figures in values.items():
        for number, value in enumerate(figures, start=1):
            verdict = (bad or {}).get((layout, workload), "sound")
            trial = _trial(layout, workload, number, value, verdict, metrics[workload])
            if syncs and trial.figures is not None:
                timed = replace(trial.figures, syncs=syncs.get(layout))
                trial = replace(trial, figures=timed, seconds={"fio": 2.0})
            reason = (unsettled or {}).get((layout, workload))
            settling = Convergence(
                reason is None, 0, 3, 180, 0.99, 1.01, () if reason is None else (NotConverged(reason, "…"),)
            )
            if reason is not None:
                settling = replace(settling, least_share=extremes[0], most_share=extremes[1])
            run.append(trial if unsettled is None else replace(trial, settling=settling))
    return path


def made(path: Path, values: Values, *, bad: Mapping[tuple[str, str], Verdict] | None = None) -> LoadedRun:
    """Create a run, load it, and return it."""
    return load_run(make_run(path, values, bad=bad))


def changed(campaign: str, **facts: str) -> RunRecord:
    """Return a run record with a different campaign or different facts about the machine."""
    return replace(RECORD, campaign=campaign, facts={**RECORD.facts, **facts})


def _trial(layout: str, workload: str, number: int, value: float, verdict: Verdict, metric: str) -> Trial:
    finding = Finding(f"rule-{verdict}", EFFECTS.get(verdict, "notes"), "why", "fix it")
    figures = {
        "iops": TrialMetrics(iops=value, bandwidth_bytes=value * 4096, p99_ns=1e9 / value),
        "bandwidth": TrialMetrics(iops=value / 2**20, bandwidth_bytes=value),
        "sync_p99": TrialMetrics(iops=1e9 / value, bandwidth_bytes=2300e9 / value, sync_p99_ns=value),
    }
    return Trial(
        layout=layout,
        workload=workload,
        number=number,
        verdict=verdict,
        findings=() if verdict == "sound" else (finding,),
        metric=metric,
        figures=figures[metric],
    )
