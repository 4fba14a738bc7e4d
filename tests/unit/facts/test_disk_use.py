"""Whether a device can be opened exclusively, and the message if this can't be tested."""

from collections.abc import Sequence
from pathlib import Path

from poolproof.facts.disk_use import disk_uses, exclusive_use
from poolproof.hosts.local import LocalHost
from poolproof.process import Completed


class Bare(LocalHost):
    """This machine, but without any programs on the PATH."""

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        bare = ["/usr/bin/env", "PATH=/nonexistent", f"/bin/{argv[0]}", *argv[1:]]
        return super().run(bare, timeout_s=timeout_s, stdin=stdin, check=check)


def test_a_disk_that_cannot_be_tried_counts_as_in_use(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.touch()
    assert exclusive_use(LocalHost(), str(disk)) is None
    use = exclusive_use(Bare(), str(disk))
    assert use is not None and {"Python", "Perl"} <= set(use.what.replace(",", "").split())


class Silent(LocalHost):
    """A host on which `find` hangs, with a shorter time limit for it."""

    def __init__(self, programs: Path) -> None:
        super().__init__()
        (programs / "find").write_text("#!/bin/sh\nexec sleep 60\n")
        (programs / "find").chmod(0o755)
        self.programs = programs

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        script = argv[2].replace("timeout -s KILL 20", "timeout -s KILL 0.2")
        found = ["/usr/bin/env", f"PATH={self.programs}:/usr/bin:/bin", *argv[:2], script]
        return super().run(found, timeout_s=timeout_s, stdin=stdin, check=check)


def test_no_disk_counts_as_free_if_open_files_cannot_be_examined(tmp_path: Path) -> None:
    uses = disk_uses(Silent(tmp_path), ["8:0", "8:16"])
    assert [[use.what.startswith("may be in use") for use in found] for found in uses.values()] == [[True], [True]]
