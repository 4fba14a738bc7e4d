"""Which options of strangers' jobs are checked with `fio --parse-only`."""

from poolproof.hosts.local import LocalHost
from poolproof.load.fio.job import Job
from poolproof.load.fio.parse_only import complaints
from tests.unit.load.fio.needs_fio import needs_fio


@needs_fio
def test_fio_does_not_pass_a_value_to_bc() -> None:
    """fio evaluates a value that contains `$ncpus` with bc. This one would loop until the time limit."""
    job = Job("a", {"rw": "read", "description": "while(1)a=$ncpus+1", "iodepth": "x"})
    assert [each.name for each in complaints(LocalHost(), [job])] == ["iodepth"]
