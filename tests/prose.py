"""Check the project's prose with proselint and a list of forbidden phrases: `python -m tests.prose`.

The checks cover the docs (without code blocks), the docstrings in `src/`, and the strings in `src/` that are sentences.
The list contains phrases that made readers stumble, each with a plain replacement. `python -m tests.prose --count`
counts habits that are still common in older text.
"""

import ast
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
_LIMIT_S = 120
_PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs")
_SENTENCE = re.compile(r"[A-Za-z`'(][\w`'(),;:.%/-]*(?: [\w`'(),;:.%/×–-]+){4,}")

CHECKS = ("archaism", "cliches", "hedging", "malapropisms", "mondegreens", "needless_variants", "nonwords", "oxymorons",
          "redundancy", "skunked_terms", "uncomparables")  # fmt: skip
"""The proselint checks that are used.

Its checks of typography, spelling and terms are not used, because they misread code.
"""

FINE = ("redundancy.misc.after_the_deadline", "'for ever' is archaic")
"""False alarms of proselint. It mistakes "and etcd" for "and etc", and "for every" for "for ever"."""

REPLACE = {
    r"\bthereof\b": "of it",
    r"\bshall\b": "must, will",
    r"\bcharity\b": "assumptions",
    r"\bteller\b": "publisher",
    r"\bby itself what\b": "(rewrite)",
    r"\bnot more than some\b": "at most",
    r"\bhold(?:s|ing)? against\b": "compare with",
    r"\bbears no\b": "has no",
}
"""Phrases that are not allowed, each with the words to use instead."""

HABITS = {
    "where, for a condition": r"\b[Ww]here (?:it|there|none|nothing|the|a|an|that|they) ",
    "stand, for what exists": r"\bst(?:ands?|ood)\b",
    "is no X": r"\bis no [a-z]+\b",
    "beside": r"\bbeside\b",
    "lie, for data": r"\bl(?:ies|ay|ie) (?:in|on|at|there|below|above)\b",
    "tells of, is told": r"\b(?:tells? of|is told|is said)\b",
    "mend": r"\b[Mm]end(?:s|ed|ing)?\b",
}
"""Habits to avoid. They are counted, but not forbidden."""


def texts() -> Iterator[tuple[str, str]]:
    """Yield each text with its location, which is a page or `module:line`."""
    yield from pages()
    for path in sorted((ROOT / "src").rglob("*.py")):
        for line, text in _strings(path):
            yield f"{path.relative_to(ROOT)}:{line}", text


def pages() -> Iterator[tuple[str, str]]:
    """Yield each page's path, and its text without code blocks."""
    for name in _PAGES:
        for path in sorted((ROOT / name).glob("*.md")) if (ROOT / name).is_dir() else [ROOT / name]:
            text = re.sub(r"^```[^\n]*\n.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
            text = re.sub(r"^    .*$", "", text, flags=re.MULTILINE)
            yield str(path.relative_to(ROOT)), text


def _strings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield docstrings and string constants that look like sentences, with their line numbers."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _SENTENCE.search(node.value):
            yield node.lineno, node.value


def proselint() -> Iterator[str]:
    """Yield a line for each problem that proselint finds.

    Raises:
        RuntimeError: proselint did not run.
    """
    with tempfile.TemporaryDirectory() as folder:
        config, page = Path(folder) / "config.json", Path(folder) / "texts.md"
        every = dict.fromkeys(_all_checks(), False) | dict.fromkeys(CHECKS, True)
        config.write_text(json.dumps({"max_errors": 10_000, "checks": every}))
        places: list[tuple[int, str]] = []
        lines: list[str] = []
        for place, text in texts():
            places.append((len(lines) + 1, place))
            lines += [*text.splitlines(), ""]
        page.write_text("\n".join(lines), encoding="utf-8")
        program = Path(sys.executable).with_name("proselint")
        argv = [str(program), "check", "-o", "compact", "--config", str(config), str(page)]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"proselint ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        for said in done.stdout.splitlines():
            found = re.search(r":(\d+):\d+: ([\w.]+): (.*)", said)
            if found and not any(each in said for each in FINE):
                number = int(found[1])
                first, place = max(each for each in places if each[0] <= number)
                yield f"{place} (+{number - first}): {found[2]}: {found[3]}"


def _all_checks() -> list[str]:
    from proselint.config import DEFAULT

    return list(DEFAULT["checks"])


def phrases() -> Iterator[str]:
    """Yield a line for each forbidden phrase that was found, with its replacement."""
    for place, text in texts():
        for phrase, better in REPLACE.items():
            for found in re.finditer(phrase, text, re.IGNORECASE):
                yield f"{place}: `{found[0]}`: write {better}"


def main() -> int:
    if "--count" in sys.argv:
        counts = Counter({name: sum(len(re.findall(how, text)) for _, text in texts()) for name, how in HABITS.items()})
        for name, count in counts.most_common():
            print(f"{count:5} {name}")
        return 0
    found = [*phrases(), *proselint()]
    print("\n".join(found) if found else "prose: nothing found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
