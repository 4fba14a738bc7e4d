"""The commands `poolproof compare` and `poolproof rank`: text, JSON, exit codes and mistakes."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.command import Command
from tests.unit.docs.pages import documented, keys_of_value, optional_parents

from .making import CAMPAIGN, Values, changed, make_run
from .test_comparison import AFTER, BEFORE
from .test_ranking import CLEAR

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def poolproof(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Runs with short names in the working directory of the test."""
    monkeypatch.chdir(tmp_path)
    make_run(Path("before"), BEFORE, bad={("union", "reads"): "suspect"})
    less: Values = {place: values for place, values in AFTER.items() if place != ("one", "etcd")}
    after = changed(CAMPAIGN.replace("time: 5s", "time: 9s"), kernel="Linux 6.18")
    make_run(Path("after"), less, bad={("one", "reads"): "refuted"}, record=after)
    make_run(Path("clear"), CLEAR, bad={("pair", "etcd"): "suspect"}, record=changed(CAMPAIGN + "goal: reads\n"))
    tied: Values = {**CLEAR, ("pair", "reads"): [995.0, 1012.0, 991.0]}
    make_run(Path("tied"), tied, bad={("union", "reads"): "refuted"}, record=changed(CAMPAIGN + "goal: reads\n"))


TEXTS = {
    "compare": ("compare", "before", "after", "--fail-if-slower", "5%"),
    "compare-layouts": ("compare", "before", "--layouts", "one,pair"),
    "rank": ("rank", "clear"),
    "rank-ties": ("rank", "tied"),
    "rank-mix": ("rank", "clear", "--weights", "reads=2,etcd=1"),
}


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("name", TEXTS)
def test_the_text_matches_the_golden_file(poolproof: Command, name: str) -> None:
    """To update a golden file after an intended change: delete it, run this test, and read the new file."""
    code, out, err = poolproof(*TEXTS[name])
    text = "\n".join(line.rstrip() for line in out.splitlines()) + "\n"
    path = GOLDEN / f"{name}.txt"
    if not path.exists():
        path.write_text(text, encoding="utf-8")
        pytest.fail(f"{path} was written anew")
    assert text == path.read_text(encoding="utf-8")
    assert (code, err) == (1 if "--fail-if-slower" in TEXTS[name] else 0, "")
    assert all(len(line) <= 80 for line in text.splitlines())


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("heading", "words"),
    [
        ("The object of a comparison", ("compare", "before", "after", "--fail-if-slower", "5%")),
        ("The object of a ranking", ("rank", "tied")),
    ],
)
def test_every_json_key_is_documented(poolproof: Command, heading: str, words: tuple[str, ...]) -> None:
    code, out, err = poolproof(*words, "--json")
    assert code in (0, 1) and not err
    written, rows = keys_of_value(json.loads(out)), documented("json.md", heading)
    parents = optional_parents(written | rows)
    assert written <= rows | parents
    free = r"only_in_|([ab]\.)?changes|in_place\[\]|gate\.(lost|open)|left_out"
    rare = re.compile(rf"{free}|.*\.(unsteady|changing|emulated|remarks)\[\]")
    unseen = {row for row in rows - written - parents if not rare.match(row)}
    assert not unseen


@pytest.mark.usefixtures("runs")
def test_the_json_names_what_changed_before_a_run_was_resumed(poolproof: Command) -> None:
    found = {"kernel": "Linux 6.1 → Linux 6.18"}
    record = json.loads(Path("clear/run.json").read_text())
    Path("clear/run.json").write_text(json.dumps(record | {"changes": found}))
    compared = json.loads(poolproof("compare", "tied", "clear", "--json")[1])
    assert (compared["a"]["changes"], compared["b"]["changes"]) == ({}, found)
    for command in ("rank", "show"):
        assert json.loads(poolproof(command, "clear", "--json")[1])["changes"] == found


@pytest.mark.usefixtures("runs")
def test_without_a_goal_each_workload_is_ranked(poolproof: Command) -> None:
    code, out, err = poolproof("rank", "before")
    assert (code, err) == (0, "")
    assert "reads: IOPS" in out and "etcd: p99 of fsync" in out
    code, out, _ = poolproof("rank", "before", "--json")
    found = json.loads(out)["workloads"]
    assert code == 0 and {"reads", "etcd"} <= {each["workload"] for each in found}
    assert all((each["ranking"] is None) == bool(each["why"]) for each in found)


@pytest.mark.usefixtures("runs")
def test_a_repeat_is_expected_in_a_wider_range_than_the_interval(poolproof: Command) -> None:
    _, out, _ = poolproof("compare", "before", "after", "--json")
    for cell in json.loads(out)["cells"]:
        assert cell["repeat"]["low"] <= cell["speed"]["low"] <= cell["speed"]["high"] <= cell["repeat"]["high"]


@pytest.mark.usefixtures("runs")
def test_a_gate_that_passes_exits_with_0(poolproof: Command) -> None:
    code, out, _ = poolproof("compare", "clear", "clear", "--fail-if-slower", "5%", "--json")
    assert (code, json.loads(out)["gate"]["passed"]) == (0, True)


MISTAKES: list[tuple[tuple[str, ...], int, str]] = [
    (("compare", "before"), 2, "one run"),
    (("compare", "before", "--layouts", "one"), 2, "two layouts"),
    (("compare", "before", "--layouts", "one,one"), 2, "two layouts"),
    (("compare", "before", "--layouts", "one,ghost"), 2, "`ghost`"),
    (("compare", "before", "after", "--effect", "2"), 2, "--effect 2"),
    (("compare", "before", "after", "--effect", "100%"), 2, "--effect 100%"),
    (("compare", "before", "after", "--fail-if-slower", "-5%"), 2, "--fail-if-slower -5%"),
    (("compare", "before", "after", "--metric", "ipos"), 2, "`iops`"),
    (("compare", "before", "nowhere"), 7, "nowhere\n"),
    (("rank", "clear", "--goal", "raeds"), 2, "`reads`"),
    (("rank", "clear", "--metric", "p999"), 2, "--metric p999: "),
    (("rank", "nowhere"), 7, "nowhere\n"),
]


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("words", "code", "fact"), MISTAKES, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_mistakes_are_one_clear_error(poolproof: Command, words: tuple[str, ...], code: int, fact: str) -> None:
    ended, out, err = poolproof(*words)
    assert ended == code and fact in err and not out
    assert len(err.splitlines()) == 2, "what happened, and what to type next"


@pytest.mark.usefixtures("runs")
def test_the_messages_about_mistakes(poolproof: Command, wording: Callable[[str], str]) -> None:
    for words, _, _ in MISTAKES:
        wording(f"$ {' '.join(words)}\n{poolproof(*words)[2]}")
