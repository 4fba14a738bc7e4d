"""docs/safety.md names the tests for each promise."""

import re
from pathlib import Path

_TOP = Path(__file__).parents[3]
_ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)


def test_each_of_the_ten_promises_names_tests_that_exist() -> None:
    rows = _ROW.findall((_TOP / "docs" / "safety.md").read_text())
    assert [int(row[0]) for row in rows] == list(range(1, 11))
    for number, _, tests, _ in rows:
        paths = re.findall(r"`((?:tests|scripts)/[^`]+)`", tests)
        assert paths, number
        assert [path for path in paths if not (_TOP / path).is_file()] == [], number
