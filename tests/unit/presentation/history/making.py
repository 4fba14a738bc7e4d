"""Runs of one campaign on several days and with several versions of fio.

Their results stay the same, fall, rise, or are refuted once.
"""

from dataclasses import replace
from pathlib import Path

from poolproof.verdicts import Verdict
from tests.unit.results.compare.making import CAMPAIGN, RECORD, Values, make_run

DAYS = ("2026-11-01", "2026-11-08", "2026-11-15", "2026-11-22")
FIO = ("fio-3.33", "fio-3.33", "fio-3.36", "fio-3.36")
LEVELS = {"same": (1.0, 1.0, 1.0, 1.0), "falls": (1.0, 1.0, 0.5, 0.5), "rises": (1.0, 1.0, 1.0, 3.0)}
SPREAD = (0.999, 1.0, 1.001)


def make_history(root: Path) -> Path:
    """Write four runs.

    `reads` on `one` falls in the third run, and `stream` on `one` rises in the fourth. `reads` on `pair` is refuted in
    the second run and is the same in all others. `etcd` on `union` was measured only in the first and the last run.
    """
    for index, (day, fio) in enumerate(zip(DAYS, FIO, strict=True)):
        values: Values = {
            ("one", "reads"): _trials(1000.0 * LEVELS["falls"][index]),
            ("one", "stream"): _trials(1e8 * LEVELS["rises"][index]),
            ("pair", "reads"): _trials(2000.0 if index != 1 else 900_000.0),
            **({("union", "etcd"): _trials(2e6 / LEVELS["same"][index])} if index in (0, 3) else {}),
        }
        record = replace(
            RECORD, campaign=CAMPAIGN, begun_at=f"{day}T10:00:00+00:00", versions={"poolproof": "0.1.0", "fio": fio}
        )
        bad: dict[tuple[str, str], Verdict] = {("pair", "reads"): "refuted"} if index == 1 else {}
        make_run(root / f"run-{index + 1}", values, bad=bad, record=record)
    return root


def _trials(level: float) -> tuple[float, ...]:
    return tuple(level * share for share in SPREAD)
