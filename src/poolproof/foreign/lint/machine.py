"""The values of fio's `$ncpus`, `$pagesize` and `$mb_memory` on the machine that would run the job."""

from collections.abc import Mapping

from poolproof.hosts.base import Host

_LIMIT_S = 20.0
_NAMES = ("_NPROCESSORS_ONLN", "PAGESIZE", "_PHYS_PAGES")


def fio_keywords(host: Host) -> Mapping[str, int]:
    """Return the three values by fio's names; empty if the host does not report them.

    Raises:
        CommandError: the host does not answer.
    """
    script = "; ".join(f"getconf {name}" for name in _NAMES)
    printed = host.run(["sh", "-c", script], timeout_s=_LIMIT_S, check=False).stdout.split()
    if len(printed) != len(_NAMES) or not all(word.isdigit() for word in printed):
        return {}
    processors, page, pages = (int(word) for word in printed)
    return {"ncpus": processors, "pagesize": page, "mb_memory": pages * page // 1024**2}
