"""What fio fills in for `$ncpus`, `$pagesize` and `$mb_memory`: facts of the machine on which the job would run."""

from collections.abc import Mapping

from poolproof.hosts.base import Host

_LIMIT_S = 20.0
_NAMES = ("_NPROCESSORS_ONLN", "PAGESIZE", "_PHYS_PAGES")


def keywords_of(host: Host) -> Mapping[str, int]:
    """The three by fio's names; nothing where the host does not tell.

    Raises:
        CommandError: the host does not answer.
    """
    script = "; ".join(f"getconf {name}" for name in _NAMES)
    said = host.run(["sh", "-c", script], timeout_s=_LIMIT_S, check=False).stdout.split()
    if len(said) != len(_NAMES) or not all(word.isdigit() for word in said):
        return {}
    processors, page, pages = (int(word) for word in said)
    return {"ncpus": processors, "pagesize": page, "mb_memory": pages * page // 1024**2}
