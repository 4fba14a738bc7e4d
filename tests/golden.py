"""Compare texts with golden files, which show every text in full so that a reviewer can read the English.

A golden file has a section for each test that records texts. After an intended change of a text, run the tests with
`POOLPROOF_GOLDEN=update`, and read the changed sections with `git diff`.
"""

import difflib
import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

UPDATE = "POOLPROOF_GOLDEN"

Message = Callable[[object], str]
"""Records a text or an error with its hint, and returns it without line breaks."""


class Section:
    """The texts of one test, and the section of a golden file that they belong to."""

    def __init__(self, path: Path, name: str, hide: Path) -> None:
        self._path, self._name, self._hide = path, name, str(hide)
        self._texts: list[str] = []

    def record(self, text: object) -> str:
        lines = str(text).replace(self._hide, "TMP").strip("\n").splitlines()
        recorded = "\n".join(line.rstrip() for line in lines)
        if recorded not in self._texts:
            self._texts.append(recorded)
        return " ".join(str(text).split())

    def compare(self) -> None:
        """Compare the recorded texts with the section, or write them there if `POOLPROOF_GOLDEN=update` is set."""
        assert self._texts, "the test recorded no text"
        text = "\n\n".join(self._texts)
        if os.environ.get(UPDATE) == "update":
            self._write(text)
        known = sections(self._path).get(self._name)
        assert known is not None, f"{self._path} has no section {self._name}: run the test with {UPDATE}=update"
        difference = "\n".join(difflib.ndiff(known.splitlines(), text.splitlines()))
        assert text == known, f"if the change is intended, run the test with {UPDATE}=update\n{difference}"

    def _write(self, text: str) -> None:
        self._path.parent.mkdir(exist_ok=True)
        with self._path.open("a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # other test processes may write other sections
            known = sections(self._path) | {self._name: text}
            file.truncate(0)
            file.write("\n".join(f"## {name}\n{known[name]}\n" for name in sorted(known)))


def sections(path: Path) -> dict[str, str]:
    """Return the sections of a golden file by their names."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    found = (section.partition("\n") for section in f"\n{text}".split("\n## ")[1:])
    return {name: content.rstrip("\n") for name, _, content in found}


def module_section(request: pytest.FixtureRequest, hide: Path) -> Section:
    """Return the test's section in `golden/MODULE.txt`."""
    name = request.path.stem.removeprefix("test_")
    return Section(request.path.parent / "golden" / f"{name}.txt", request.node.name, hide)


def folder_section(request: pytest.FixtureRequest, hide: Path) -> Section:
    """Return the test's section in `golden/messages.txt`, which all modules of a folder share."""
    name = f"{request.path.stem}: {request.node.name}"
    return Section(request.path.parent / "golden" / "messages.txt", name, hide)
