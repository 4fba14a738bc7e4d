"""Job files that are given next to the results that they produced: `poolproof audit job.fio out.txt`."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from poolproof.cli.main import app_for
from poolproof.errors import FioError
from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.sources import audit_sources
from poolproof.foreign.importing.imported_run import import_results

_JOB = """\
# an invented job
[global]
directory=/srv/bench
size={size}
ioengine=psync

[{name}]
rw=write
bs=1m
"""
_RESULT = """\
seq: (groupid=0, jobs=1): err= 0: pid=77: Fri Jan  7 08:00:00 2022
  write: IOPS=320, BW=320MiB/s (336MB/s)(9600MiB/30001msec); 0 zone resets
    clat (usec): min=290, max=9119, avg=3101.07, stdev=56.37
"""
_JSON = """\
{"fio version": "fio-3.33", "jobs": [{"jobname": "seq", "job options": {"rw": "write", "bs": "1m"}, "write":
{"io_bytes": 10066329600, "bw_bytes": 335544320, "iops": 320.0, "runtime": 30000, "total_ios": 9600}}]}
"""


def _audited(folder: Path, **texts: str) -> tuple[Audited, ...]:
    names = []
    for name, text in texts.items():
        path = folder / name.replace("_", ".")
        path.write_text(text)
        names.append(str(path))
    return tuple(audit_sources(names, Context(), bytes).results)


def _rules(audited: Audited) -> set[str]:
    return {finding.rule for finding in audited.findings}


@pytest.mark.parametrize("result", [_RESULT, _JSON])
def test_a_job_file_explains_the_results_in_the_other_files(tmp_path: Path, result: str) -> None:
    (found,) = _audited(tmp_path, job_fio=_JOB.format(name="seq", size="9600m"), out_txt=result)
    assert "write-without-sync" in _rules(found)
    assert found.rerun is not None
    assert "--directory=/srv/bench" in found.rerun
    assert (found.command_line, found.is_assumed) == (None, False)
    assert f"the job file is {tmp_path}/job.fio" in found.known


def test_the_order_of_the_files_does_not_matter(tmp_path: Path) -> None:
    (found,) = _audited(tmp_path, out_txt=_RESULT, job_fio=_JOB.format(name="seq", size="9600m"))
    assert "write-without-sync" in _rules(found)


@pytest.mark.parametrize(
    ("job", "output"),
    [
        (_JOB.format(name="other", size="9600m"), _RESULT),
        (_JOB.format(name="seq", size="9600m").replace("rw=write", "rw=read"), _RESULT),
        (_JOB.format(name="seq", size="9600m") + "\nI ran this job:\n", _RESULT),
        (
            _JOB.format(name="seq", size="9600m"),
            "$ fio --name=seq --filename=/dev/sdb --rw=write --bs=1m --direct=1\n" + _RESULT,
        ),
    ],
    ids=["another name", "another direction", "a text with a job", "a command in the output"],
)
def test_a_job_file_that_does_not_fit_is_ignored(tmp_path: Path, job: str, output: str) -> None:
    (found,) = _audited(tmp_path, job_fio=job, out_txt=output)
    assert "write-without-sync" not in _rules(found)
    assert not any("job file" in fact for fact in found.known)


def test_several_job_files_that_fit_make_the_match_an_assumption(tmp_path: Path) -> None:
    texts = {"a_fio": _JOB.format(name="seq", size="9600m"), "b_fio": _JOB.format(name="seq", size="100g")}
    (found,) = _audited(tmp_path, **texts, out_txt=_RESULT)
    assert found.is_assumed
    assert found.command_line is None
    (tmp_path / "out.txt").write_text(_RESULT)
    files = [str(tmp_path / name) for name in ("a.fio", "b.fio", "out.txt")]
    printed = CliRunner().invoke(app_for(), ["audit", *files]).stdout
    assert "assumed job file: " in printed
    assert "run again (if this job file produced this result)" in printed


def test_a_job_file_alone_has_no_result(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(_JOB.format(name="seq", size="9600m"))
    done = CliRunner().invoke(app_for(), ["audit", str(tmp_path / "job.fio")])
    assert isinstance(done.exception, FioError)


def test_an_import_uses_the_job_file_too(tmp_path: Path) -> None:
    job, result = tmp_path / "job.fio", tmp_path / "out.txt"
    job.write_text(_JOB.format(name="seq", size="9600m"))
    result.write_text(_RESULT)
    done = import_results([job, result], tmp_path / "run", Context())
    (trial,) = done.trials
    assert done.unread == []
    assert "write-without-sync" in {finding.rule for finding in trial.findings}
