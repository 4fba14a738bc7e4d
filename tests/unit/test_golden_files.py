"""Golden files: a changed text is found, an intended change is written, and no section outlives its test."""

from pathlib import Path

import pytest

from tests.golden import UPDATE, Section, sections

ROOT = Path(__file__).parents[1]


def _section(path: Path, text: str, *, name: str = "test_a") -> Section:
    section = Section(path, name, path.parent)
    section.record(text)
    return section


def test_a_changed_text_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "golden" / "a.txt"
    monkeypatch.setenv(UPDATE, "update")
    _section(path, "the disk a\n  is full").compare()
    monkeypatch.delenv(UPDATE)
    _section(path, "the disk a\n  is full").compare()
    with pytest.raises(AssertionError, match=UPDATE):
        _section(path, "the disk a\n  is busy").compare()


def test_a_text_without_a_section_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(UPDATE, raising=False)
    with pytest.raises(AssertionError, match=UPDATE):
        _section(tmp_path / "a.txt", "text").compare()
    assert not (tmp_path / "a.txt").exists()


def test_an_update_changes_only_its_own_section(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "golden" / "a.txt"
    monkeypatch.setenv(UPDATE, "update")
    _section(path, "one", name="test_b").compare()
    _section(path, "two\n\nthree ## four").compare()
    _section(path, "five", name="test_b").compare()
    assert sections(path) == {"test_a": "two\n\nthree ## four", "test_b": "five"}


def test_the_folder_of_the_test_is_hidden(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    section = Section(path, "test_a", tmp_path)
    assert section.record(f"{tmp_path}/disk\n  is full") == f"{tmp_path}/disk is full"
    path.write_text("## test_a\nTMP/disk\n  is full\n")
    section.compare()


def test_each_section_belongs_to_a_test() -> None:
    for path in ROOT.rglob("golden/*.txt"):
        for name in sections(path):
            module, _, test = name.partition("[")[0].rpartition(": ")
            tests = path.parents[1] / f"{module or f'test_{path.stem}'}.py"
            assert f"def {test}(" in tests.read_text(), f"{path} has a section for {name}"
