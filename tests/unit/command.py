"""The command line as it is typed, in this process."""

import sys

import pytest

from poolproof.cli.main import main


class Command:
    """Called with the words after `poolproof`: exit code, standard output, standard error.

    Paths in what it prints are those given, so that golden files fit; a line has `columns` columns, without colours.
    """

    def __init__(self, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str], *, columns: int = 80) -> None:
        self._patch = patch
        self._capture = capture
        patch.setenv("COLUMNS", str(columns))
        patch.setenv("NO_COLOR", "1")

    def __call__(self, *words: str) -> tuple[int, str, str]:
        self._patch.setattr(sys, "argv", ["poolproof", *words])
        with pytest.raises(SystemExit) as end:
            main()
        out, err = self._capture.readouterr()
        return int(end.value.code or 0), out, err
