"""The labelled cases and the confusion table. To print it: `python -m tests.unit.foreign.audit.corpus`."""

import shlex
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poolproof.foreign.audit.context import Context, read_context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text
from poolproof.verdicts import Verdict

CASES = Path(__file__).parent / "cases"
VERDICTS: tuple[Verdict, ...] = ("sound", "unproven", "suspect", "refuted", "failed")
SUFFIXES = {"normal": ".txt", "terse": "-terse.txt", "json": ".json", "json+": ".json"}


@dataclass(frozen=True)
class Case:
    """A captured output, its label, the expected rule or verdict, and the result of its audit."""

    name: str
    label: str
    rule: str
    verdict: str | None
    audited: Audited


def captured() -> Iterator[Case]:
    """Yield every format of every run in runs.toml."""
    for run in tomllib.loads((CASES / "runs.toml").read_text(encoding="utf-8"))["run"]:
        setting = read_context(**_flags(run.get("flags", "")))
        for form in run["formats"]:
            name = run["name"] + SUFFIXES[form]
            results = audit_text(name, (CASES / name).read_text(encoding="utf-8"), setting)
            assert len(results) == 1, f"{name} holds {len(results)} results"
            shows = run.get("in_json", True) or not form.startswith("json")
            yield Case(name, run["label"], run["rule"] if shows else "", None, results[0])


def quoted() -> Iterator[Case]:
    """Yield every result found in other people's texts."""
    rows: list[dict[str, Any]] = tomllib.loads((CASES / "texts.toml").read_text(encoding="utf-8"))["result"]
    for file in dict.fromkeys(row["file"] for row in rows):
        found = {each.line: each for each in audit_text(file, (CASES / file).read_text(encoding="utf-8"), Context())}
        labelled = {row["line"]: row for row in rows if row["file"] == file}
        assert found.keys() == labelled.keys(), f"{file}: found at {sorted(found)}, labelled at {sorted(labelled)}"
        for line, row in labelled.items():
            yield Case(f"{file}:{line}", row["label"], "", row["verdict"], found[line])


def every() -> list[Case]:
    """Return all cases."""
    return [*captured(), *quoted()]


def confusion_table(cases: list[Case]) -> str:
    """Return the confusion table of labels and verdicts in Markdown."""
    counts = Counter((case.label, case.audited.verdict) for case in cases)
    lines = [f"| label | {' | '.join(VERDICTS)} | all |", f"|---|{'---:|' * (len(VERDICTS) + 1)}"]
    for label in ("control", "trap"):
        row = [counts[label, verdict] for verdict in VERDICTS]
        lines.append(f"| {label} | {' | '.join(map(str, row))} | {sum(row)} |")
    return "\n".join(lines) + "\n"


def missed(cases: list[Case]) -> list[str]:
    """Return the traps that were not detected."""
    return [case.name for case in cases if case.label == "trap" and case.audited.verdict in ("sound", "unproven")]


def _flags(text: str) -> dict[str, Any]:
    words = shlex.split(text)
    return {name.lstrip("-"): value for name, value in zip(words[::2], words[1::2], strict=True)}


if __name__ == "__main__":
    found = every()
    print(confusion_table(found))
    print("missed:", ", ".join(missed(found)))
