"""The work of an audit grows with the number of jobs in a result, and not with its square."""

import cProfile
import json

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

_READ = {"iops": 1, "bw_bytes": 1, "io_bytes": 1, "total_ios": 1, "runtime": 1000}


def _calls(jobs: int) -> int:
    job = {"jobname": "a", "job options": {"rw": "read"}, "read": _READ}
    text = json.dumps({"fio version": "fio-3.33", "jobs": [job] * jobs})
    with cProfile.Profile() as profile:
        assert audit_text("-", text, Context())
    return sum(entry.callcount for entry in profile.getstats())


def test_the_work_grows_with_the_number_of_jobs() -> None:
    _calls(1)  # the first call compiles regular expressions
    assert _calls(320) < 6 * _calls(80)
