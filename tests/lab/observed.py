"""While a run in a lab lays out its test files, record the state of the storage systems with their own tools."""

import contextlib
from collections.abc import Iterator

from .machine import Machine

_FIO = "/usr/local/bin/fio"
_KEPT = "/run/observed"
# A tool is run only if its kernel module has something to report, because starting programs takes time.
_OBSERVER = f"""#!/bin/sh
look() {{
    [ -e /proc/spl/kstat/zfs/arcstats ] && {{
        zpool status -P
        zpool list -v
        zfs get -H -t filesystem,volume -s local -o property,value all
        echo "arc_max $(cat /sys/module/zfs/parameters/zfs_arc_max)"
    }}
    grep -q ^md /proc/mdstat && {{
        cat /proc/mdstat
        mdadm --detail /dev/md/*
        mdadm --examine-bitmap /dev/disk/by-id/scsi-0LAB_file_a
    }}
    set -- /dev/mapper/*-*
    [ -e "$1" ] && {{ dmsetup table; lvs -a --noheadings -o lv_name,segtype,stripes,stripe_size,cache_mode,devices; }}
}}
for job; do :; done
case $job in */fill.fio)
    mkdir -p {_KEPT}
    look >{_KEPT}/$(($(ls {_KEPT} | wc -l) + 1000)) 2>/dev/null </dev/null
esac
exec /usr/bin/fio "$@"
"""


@contextlib.contextmanager
def observed(lab: Machine) -> Iterator[list[str]]:
    """Yield a list of outputs, one for each time that test files were laid out. It is filled when the context ends."""
    found: list[str] = []
    lab.write(_FIO, _OBSERVER)
    try:
        yield found
    finally:
        told = f"for seen in {_KEPT}/*; do [ -e $seen ] || continue; cat $seen; echo =====; done"
        said = lab.ask(f"{told}; rm -rf {_KEPT} {_FIO}")
        found += said.split("=====\n")[:-1]
