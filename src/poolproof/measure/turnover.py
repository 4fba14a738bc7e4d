"""How long what a trial writes may stay in RAM: the write-back cycles of the layout's layers and of the page cache."""

from poolproof.hosts.base import FileMissing, Host
from poolproof.layers.base import WriteBack
from poolproof.layers.open_layout import write_backs
from poolproof.load.fio.job import Job, JobFile
from poolproof.measure.ready import ReadyLayout

_VM = "/proc/sys/vm"


def turnovers(host: Host, layout: ReadyLayout, jobs: JobFile) -> tuple[WriteBack, ...]:
    """The cycles that the writes of these jobs go through; none for jobs that only read."""
    writers = [job for job in jobs.jobs if job.writes]
    if not writers:
        return ()
    own = write_backs(layout.tree, host)
    zfs = layout.target.zfs
    cached = (zfs is None or zfs.is_zvol) and any(_stays_in_page_cache(job) for job in writers)
    return (*own, *([_page_cache(host, layout.target.dirty_limit_bytes)] if cached else []))


def _stays_in_page_cache(job: Job) -> bool:
    return job.may_use_page_cache and not job.direct and not job.commits_each_write


def _page_cache(host: Host, limit_bytes: int | None) -> WriteBack:
    """A page is written back when it is dirty for dirty_expire_centisecs, seen every dirty_writeback_centisecs; or when
    the limit makes writers wait (Documentation/admin-guide/sysctl/vm.rst).
    """
    seconds = (_centiseconds(host, "dirty_expire", 3000) + _centiseconds(host, "dirty_writeback", 500)) / 100
    return WriteBack(seconds, limit_bytes)


def _centiseconds(host: Host, name: str, usual: int) -> int:
    try:
        return int(host.read(f"{_VM}/{name}_centisecs"))
    except (FileMissing, ValueError):
        return usual
