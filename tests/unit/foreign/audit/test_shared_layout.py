"""fio's messages about laying out files show whether the clones of a job share one file."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text
from tests.unit.foreign.audit.invented import MIB, block, header


def _run(name: str, rw: str, layouts: int, *, clones: int = 4, each_mib: int = 512) -> str:
    """Return the output of clones that move `each_mib` each, with a message for each of the `layouts` files."""
    kind = "write" if "write" in rw else "read"
    message = f"{name}: Laying out IO file (1 file / 512MiB)\n"
    head = header(name, rw, MIB, "psync").replace("Starting 1 process", f"...\nStarting {clones} processes")
    moved = block(name, kind, clones * each_mib / 20, 20, MIB, clat_us=40_000, jobs=clones)
    return f"{head}{message * layouts}\n{moved}\n"


def _shared(text: str) -> list[bool]:
    return [
        "shared-file-numjobs" in {finding.rule for finding in found.findings if finding.effect == "suspects"}
        for found in audit_text("post", f"On the new array:\n\n{text}", Context())
    ]


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        (_run("w", "write", 1), [True]),
        (_run("w", "write", 4), [False]),
        (_run("w", "write", 0), [False]),
        (_run("w", "write", 1, each_mib=256), [False]),
        (_run("w", "write", 1, clones=1), [False]),
        (_run("w", "write", 1) + _run("r", "read", 0), [True, True]),
        (_run("w", "write", 1) + _run("r", "read", 4), [True, False]),
        (_run("w", "write", 1) + _run("r", "read", 0, clones=2), [True, False]),
    ],
    ids=["one file", "own files", "unknown", "half of it", "alone", "again", "then own files", "then fewer clones"],
)
def test_one_layout_for_several_clones_is_a_shared_file(text: str, shared: list[bool]) -> None:
    assert _shared(text) == shared


def test_a_command_shows_the_files_itself() -> None:
    command = (
        "fio --directory=/srv --name=w --rw=write --bs=1m --size=512m --numjobs=4 --ioengine=psync --end_fsync=1\n"
    )
    assert _shared(command + _run("w", "write", 1)) == [False]
