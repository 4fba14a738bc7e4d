"""Run poolproof's command line inside the test process."""

import sys

import pytest

from poolproof.cli.main import main


class Command:
    """Runs a command with the given arguments, and returns its exit code, standard output and standard error.

    The terminal is `columns` wide and has no colours, so that the output can be compared with golden files.
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
