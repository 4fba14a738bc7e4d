"""The text about a resumed run names layouts measured on one side only, and a change of the machine's speed."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from poolproof.metrics import MetricId, TrialMetrics
from poolproof.results.runs.model import RunRecord, Trial
from poolproof.results.runs.resumes import resumes_text
from tests.golden import Message

RECORD = RunRecord("0.1.0", "", "label", "", "", 1, "local", "2026-11-01T10:00:00+00:00", {}, {})
RESUMED = replace(RECORD, resumed_at=("2026-11-01T12:00:00+00:00",))
BEFORE, AFTER = "2026-11-01T11:00:00+00:00", "2026-11-01T13:00:00+00:00"


def trials(
    speed: Callable[[bool], float], metric: MetricId = "iops", layouts: tuple[str, ...] = ("one", "two", "three")
) -> Iterator[Trial]:
    for layout in layouts:
        for workload, rate in (("reads", 100.0), ("commits", 20.0)):
            for number, at in enumerate((BEFORE, BEFORE, AFTER, AFTER), 1):
                value = rate * speed(at == AFTER)
                figures = TrialMetrics(iops=value, bandwidth_bytes=4096 * value, p99_ns=1e9 / value if value else None)
                yield Trial(layout, workload, number, "sound", (), metric, figures, begun_at=at)


def test_a_machine_that_became_faster_is_reported(message: Message) -> None:
    noise = random.Random(1)
    for metric in ("iops", "p99"):
        found = list(trials(lambda after: (1.2 if after else 1) * noise.gauss(1, 0.03), metric))
        text = resumes_text(RESUMED, found)
        assert "(2026-11-01 12:00)" in message(text) and "faster" in text
        assert resumes_text(RECORD, found) == ""


def test_a_change_by_a_factor_of_2_or_more_is_a_ratio_as_in_all_outputs() -> None:
    sizes = {0.5: "2× slower", 2: "2× faster", 0.52: "48% slower", 1.9: "90% faster", 0.25: "4× slower"}
    for factor, text in sizes.items():
        speeds = {True: factor, False: 1.0}
        found = resumes_text(RESUMED, list(trials(speeds.__getitem__)))
        assert f"the same layouts were {text} than before" in found


def test_a_machine_that_did_not_change_is_rarely_reported() -> None:
    noise = random.Random(2)
    reported = sum(bool(resumes_text(RESUMED, list(trials(lambda _after: noise.gauss(1, 0.1))))) for _ in range(500))
    assert reported <= 10


def test_layouts_on_one_side_of_the_resume_are_named(message: Message) -> None:
    found = [each for each in trials(lambda _after: 1.0) if (each.layout == "three") == (each.begun_at == AFTER)]
    text = resumes_text(RESUMED, found)
    assert text.startswith("one, two ") and "three" in text and "(2026-11-01 12:00)" in message(text)


def test_two_resumes_without_a_trial_in_between_are_one() -> None:
    twice = replace(RECORD, resumed_at=(*RESUMED.resumed_at, "2026-11-01T12:30:00+00:00"))
    found = list(trials(lambda after: 1.5 if after else 1))
    assert resumes_text(twice, found) == resumes_text(RESUMED, found) != ""


def test_hostile_dates_and_values_say_nothing() -> None:
    odd = replace(RECORD, resumed_at=("", "never", "9999-99-99", "\x1b[2J") * 10_000)
    assert resumes_text(odd, list(trials(lambda _after: 1.0))) == ""
    values = iter((float("nan"), float("inf"), 0.0, -1.0, 1e308, 5e-324) * 8)
    assert "nan" not in resumes_text(RESUMED, list(trials(lambda _after: next(values))))
