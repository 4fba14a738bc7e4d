"""How many bytes the files under a directory occupy, for layers that store whole files on their inputs."""

from collections.abc import Sequence

from poolproof.devices.model import Volume
from poolproof.hosts.base import Host

_BLOCK_BYTES = 512
_LIMIT_S = 60.0


def file_bytes(path: str, host: Host) -> int:
    """Return the allocated bytes of all regular files under `path`, without other file systems mounted there.

    Raises:
        CommandError: the directory does not exist, or `find` took longer than 60 s.
    """
    # directories (lost+found) contain no data of the benchmark
    found = host.run(("find", path, "-xdev", "-type", "f", "-printf", "%b\\n"), timeout_s=_LIMIT_S)
    return sum(int(line) for line in found.stdout.split()) * _BLOCK_BYTES


def stored_as_files(inputs: Sequence[Volume], total_bytes: int, host: Host) -> tuple[int, ...]:
    """Return the share of `total_bytes` on each directory, by the files that are there; 0 while there are none."""
    counts = [file_bytes(each.path, host) for each in inputs]
    return tuple(total_bytes * count // max(1, sum(counts)) for count in counts)
