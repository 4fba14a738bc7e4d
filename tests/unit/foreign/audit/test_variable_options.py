"""Commands of scripts, whose options are in variables: an unknown value must not raise an alarm."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text

_READ = "  READ: bw=2120MiB/s (2223MB/s), 2120MiB/s-2120MiB/s, io=124GiB (133GB), run=60001-60001msec\n"
_WRITE = "  WRITE: bw=1120MiB/s (1174MB/s), 1120MiB/s-1120MiB/s, io=65.6GiB (70.5GB), run=60001-60001msec\n"
_JOB = "fio --name=t --filename=/mnt/d/f --bs=4k --ioengine=libaio --iodepth=32 --runtime=60 --time_based --size=64g"


def _audited(options: str) -> Audited:
    output = _WRITE if "write" in options else _READ
    (found,) = audit_text("post", f"```\n{_JOB} {options}\n{output}```\n", Context())
    return found


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        ("--rw=read --direct=$DIRECT", "unproven"),
        ("--rw=read --direct=0", "suspect"),
        ("--rw=write --direct=${DIRECT}", "unproven"),
        ("--rw=write --direct=%DIRECT%", "unproven"),
        ("--rw=write --direct={{ direct }}", "unproven"),
        ("--rw=write", "suspect"),
        ("--rw=write --end_fsync=$SYNC", "unproven"),
        ("--rw=randwrite --fsync=${FSYNC}", "unproven"),
        ("--rw=write --end_fsync=0", "suspect"),
        ("--rw=write $OPTS", "unproven"),
        ('--rw=write "${args[@]}"', "unproven"),
        ("--rw=write $(options)", "unproven"),
        ("$OPTS --rw=write", "unproven"),
        ("--rw=write --numjobs $JOBS", "suspect"),
        ("--rw=write --direct=0 --end_fsync=0 $OPTS", "suspect"),
    ],
)
def test_the_unknown_value_of_a_variable_raises_no_alarm(options: str, verdict: str) -> None:
    assert _audited(options).verdict == verdict


def test_the_variables_of_a_command_are_kept() -> None:
    found = _audited('--rw=write "${args[@]}"')

    assert found.command == f'{_JOB} --rw=write "${{args[@]}}"'
    assert "the values of the variables in direct" in _audited("--rw=read --direct=$DIRECT").missing
