"""Whether a device can be opened exclusively, and the message if this can't be tested."""

from collections.abc import Sequence
from pathlib import Path

from poolproof.facts.disk_use import exclusive_use
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
