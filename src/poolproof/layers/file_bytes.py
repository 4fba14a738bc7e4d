"""How many bytes the files under a directory take up."""

from poolproof.hosts.base import Host

_BLOCK_BYTES = 512
_LIMIT_S = 60.0


def file_bytes(path: str, host: Host) -> int:
    """Allocated bytes of all regular files under `path`, other file systems below it left out.

    Raises:
        CommandError: the directory is not there, or `find` took longer than 60 s.
    """
    # lost+found and the like are directories: they hold no data of the benchmark
    found = host.run(("find", path, "-xdev", "-type", "f", "-printf", "%b\\n"), timeout_s=_LIMIT_S)
    return sum(int(line) for line in found.stdout.split()) * _BLOCK_BYTES
