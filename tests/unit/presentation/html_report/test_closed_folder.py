"""A run in a folder that the user may not enter causes one error that says so, and what to type."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from poolproof.errors import RunError
from poolproof.results.runs.loading import load_run

_NOBODY = 65534


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Path]:
    """A run in a folder without permissions. Root could enter it, so the test runs as the user nobody."""
    run = tmp_path / "closed" / "run"
    run.mkdir(parents=True)
    for name in ("run.json", "campaign.yaml"):
        (run / name).write_text("{}")
    run.parent.chmod(0)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(_NOBODY)
    try:
        yield run
    finally:
        if is_root:
            os.seteuid(0)
        run.parent.chmod(0o700)


def test_it_is_refused_with_the_command_that_is_allowed(closed: Path) -> None:
    with pytest.raises(RunError) as caught:
        load_run(closed, lenient=True)
    assert caught.value.message.startswith(f"{closed}/run.json ")
    assert "Permission denied" in caught.value.message
    assert "sudo poolproof" in caught.value.hint
