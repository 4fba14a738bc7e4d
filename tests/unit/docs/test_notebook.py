"""docs/notebook.ipynb runs from start to end on real files, and draws what it describes."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.unit.presentation.export.making import grid_run

from .pages import DOCS

_LIMIT_S = 100


@pytest.mark.slow
@pytest.mark.timeout(2 * _LIMIT_S)  # starting a kernel takes seconds, or longer on a busy machine
def test_every_cell_runs_and_the_charts_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid_run(tmp_path / "runs" / "grid")
    monkeypatch.setenv("POOLPROOF_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(DOCS / "notebook.ipynb", as_version=4)  # type: ignore[no-untyped-call]  # nbformat has no types
    client = NotebookClient(
        notebook, timeout=_LIMIT_S, startup_timeout=_LIMIT_S, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    outputs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    assert "'mirror'" in outputs[0][-1].data["text/plain"]
    for drawn in outputs[1:]:
        assert ">mirror</text>" in drawn[-1].data["image/svg+xml"]


def test_the_notebook_keeps_no_output_of_a_machine() -> None:
    notebook = nbformat.read(DOCS / "notebook.ipynb", as_version=4)  # type: ignore[no-untyped-call]  # nbformat has no types
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code and not [cell for cell in code if cell.outputs or cell.execution_count]
