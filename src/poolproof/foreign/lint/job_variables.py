"""Choose the environment variables that a job file may use, by their names.

A job file can name any environment variable. A job file from a stranger could name one that contains a password or a
token, and a finding would then print the value, for example in the log of a CI server. Even which findings appear can
depend on the value. Therefore, lint knows only variables whose names consist of words for fio's options, such as
`SIZE`, `BLOCK_SIZE` and `FIO_DEVICE`. All others count as unknown.
"""

import re
from collections.abc import Mapping

from poolproof.load.fio.option_names import JOB_OPTIONS, names_in

_PLACES = frozenset({"HOME", "PWD", "TMPDIR"})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", re.ASCII)
_WORDS = frozenset(word for option in JOB_OPTIONS for word in option.split("_")) | names_in("""
bandwidth batch bench benchmark block blocks blocksize buffer buffers burst bw count cpu data depth dev device
devices dir disk disks drive drives duration engine file files fill fio fs group hdd increment interval io iops
iosize job jobname jobs lat latency length limit log logs loop max min minutes mix mixread mixwrite mnt mode
mount mountpoint num number nvme off on output path pattern percent point pool qd queue ram random ratio read
reads results sec seconds secs seq sequential ssd step sync target test testdir testfile tests thread threads
total type vol volume warmup work workdir workload write writes zfs
""")


def job_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables whose values lint may use and show."""
    return {name: value for name, value in environment.items() if _is_for_jobs(name)}


def _is_for_jobs(name: str) -> bool:
    if name in _PLACES or name.lower() in _WORDS | JOB_OPTIONS:
        return True
    words = [word.lower() for word in _WORD.findall(name)]
    return bool(words) and all(word in _WORDS for word in words)
