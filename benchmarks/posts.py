"""Audit labelled public texts and print how the verdicts compare with the labels.

    python -m benchmarks.posts [FOLDER]

FOLDER (default: `shared/cases/posts` next to or above the repository) contains texts and `expected.json`, which lists
the expected results of each text:

    {"07.txt": {"kind": "control", "results": [{"line": 15, "kind": "control", "expect": ["sound", "unproven"],
                "figures": {"direction": "write", "iops": 7801.0, "bw": 31953920.0}}]}}

A value counts as found if the audit reports the same IOPS and bandwidth for the same direction (read or write). They
may differ by up to 1.5%, because the texts contain only three digits. A value counts as misread if the audit reports
other numbers for its line, and as missed if it reports nothing for that line. Exits with 1 if a goal is not reached.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.arguments import arguments
from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text

_BESIDE = Path("shared", "cases", "posts")
_LABELS = "expected.json"
_TOLERANCE = 0.015
_NEAR_LINES = 3
_VERDICTS = ("sound", "unproven", "suspect", "refuted", "failed", "misread", "missed")
_DOUBTED = ("suspect", "refuted", "failed")
_LEAST_TRAPS = 0.80
_MOST_DOUBTED_CONTROLS = 0.02


@dataclass(frozen=True)
class Labelled:
    """A labelled value, and what the audit said about it: a verdict, `misread` or `missed`."""

    text: str
    kind: str
    wanted: tuple[str, ...]
    figures: Mapping[str, Any]
    said: str
    audited: Audited | None = None

    @property
    def is_right(self) -> bool:
        """True if the verdict is one of those that the label expects."""
        return self.said in self.wanted


def judged(folder: Path) -> list[Labelled]:
    """Audit every text in the folder, and return the labelled values. Results without a label get the kind `extra`."""
    labels = json.loads((folder / _LABELS).read_text())
    found: list[Labelled] = []
    for name, label in labels.items():
        text = (folder / name).read_bytes().decode("utf-8", "replace")
        found += _compared(name, label["results"], audit_text(name, text, Context()))
    return found


def _compared(name: str, wanted: Sequence[Mapping[str, Any]], audited: Sequence[Audited]) -> Iterable[Labelled]:
    values = [(each, direction) for each in audited for direction in each.figures.directions]
    free = list(values)
    for label in wanted:
        figures = label["figures"]
        fitting = [value for value in free if _fits(value, figures)]
        match = min(fitting, key=lambda value: abs(value[0].line - (label["line"] or 0)), default=None)
        if match is not None:
            free.remove(match)
        said = match[0].verdict if match else _unmatched(values, label)
        yield Labelled(name, label["kind"], tuple(label["expect"]), figures, said, match[0] if match else None)
    for each, direction in free:
        got = each.figures.directions[direction]
        yield Labelled(
            name, "extra", (), {"direction": direction, "iops": got.iops, "line": each.line}, each.verdict, each
        )


def _fits(value: tuple[Audited, str], figures: Mapping[str, Any]) -> bool:
    audited, direction = value
    got = audited.figures.directions[direction]
    if direction not in (figures["direction"], "mixed"):
        return False
    pairs = [(got.iops, figures.get("iops")), (got.bandwidth_bytes, figures.get("bw"))]
    known = [(one, other) for one, other in pairs if one is not None and other is not None]
    return bool(known) and all(abs(one - other) <= _TOLERANCE * other for one, other in known)


def _unmatched(values: Iterable[tuple[Audited, str]], label: Mapping[str, Any]) -> str:
    at = label["line"]
    near = at is not None and any(
        direction == label["figures"]["direction"] and abs(each.line - at) <= _NEAR_LINES for each, direction in values
    )
    return "misread" if near else "missed"


def table(found: Sequence[Labelled]) -> list[str]:
    """Return the lines of the confusion table, with one row per label and one column per verdict."""
    rows = [f"{'label':<10}" + "".join(f"{name:>10}" for name in (*_VERDICTS, "all"))]
    for kind in ("control", "trap", "either", "extra"):
        said = Counter(each.said for each in found if each.kind == kind)
        counted = [said[name] for name in _VERDICTS]
        rows.append(f"{kind:<10}" + "".join(f"{count:>10}" for count in (*counted, sum(counted))))
    return rows


def missed_goals(found: Sequence[Labelled]) -> list[str]:
    """Return a line for each goal that is not reached."""
    traps = [each for each in found if each.kind == "trap"]
    controls = [each for each in found if each.kind == "control"]
    caught = sum(each.is_right for each in traps)
    doubted = sum(each.said in _DOUBTED for each in controls)
    checks = {
        f"traps found: {caught} of {len(traps)}, goal 80%": caught >= _LEAST_TRAPS * len(traps),
        "a control is refuted": not any(each.said == "refuted" for each in controls),
        f"controls suspect or failed: {doubted} of {len(controls)}, goal at most 2%": doubted
        <= _MOST_DOUBTED_CONTROLS * len(controls),
        "a value is misread or missed": not any(each.said in ("misread", "missed") for each in found),
    }
    return [words for words, is_ok in checks.items() if not is_ok]


def _details(found: Iterable[Labelled]) -> Iterable[str]:
    for each in found:
        if each.is_right or each.kind == "extra":
            continue
        findings = each.audited.findings if each.audited else ()
        rules = ", ".join(finding.rule for finding in findings if finding.effect != "notes")
        figures = " ".join(f"{name}={value}" for name, value in each.figures.items())
        yield f"{each.text}: {each.kind} {figures}: {each.said} {rules}".rstrip()


def posts_folder(given: Sequence[str], repository: Path) -> Path:
    """Return the given folder, or else the nearest `shared/cases/posts` next to or above the repository.

    Exits with a message if the folder does not exist or contains no labels.
    """
    candidates = [Path(each) for each in given[:1]] or [parent / _BESIDE for parent in repository.parents]
    folder = next((each for each in candidates if (each / _LABELS).is_file()), None)
    if folder is None:
        looked = ", ".join(str(each) for each in candidates)
        raise SystemExit(
            f"no {_LABELS} in {looked}. Name a folder of labelled texts: python -m benchmarks.posts FOLDER"
        )
    return folder


def _main() -> int:
    found = judged(posts_folder(arguments(__doc__), Path(__file__).resolve().parents[1]))
    print("\n".join([*_details(found), "", *table(found), "", *(missed := missed_goals(found))]))
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(_main())
