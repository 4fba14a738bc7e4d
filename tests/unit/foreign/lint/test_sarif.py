"""The SARIF output is valid according to tests/unit/foreign/lint/sarif-2.1.0-rtm.5.json."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from poolproof.foreign.audit.context import read_context
from poolproof.foreign.lint.check import lint
from poolproof.foreign.lint.model import Diagnostic
from poolproof.foreign.lint.sarif import sarif_of
from poolproof.foreign.lint.sources import Source
from poolproof.foreign.lint.targets import TargetLookup
from poolproof.hosts.local import LocalHost

_SCHEMA = json.loads((Path(__file__).parent / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
_TEXTS = {
    "job.fio": "[a]\nrw=write\nsize=1g\niodepth=8\nioengine=libaio\nruntime=9\n[b]\nrw=randread\nsize=1g\nnumjobs=8\n",
    "a b/ü#?.fio": "[a]\nquantum=1\nsync=zoo\nrw=reed\n",
    "C:\\jobs\\x.sh": "fio --rw=read\nfio --name=a $OPTIONS --size=${SIZE}\n",
    "-": "nothing\n",
    "command line": "fio --name=a --filename=/dev/sdb --rw=randwrite --bs=4KiB --gtod_reduce=1 --numjobs=4\n",
    "not-text": "\x00\x01",
}


def _errors(log: dict[str, Any]) -> list[str]:
    return [f"{list(error.path)}: {error.message}" for error in Draft4Validator(_SCHEMA).iter_errors(log)]


def _found(name: str) -> list[Diagnostic]:
    where = TargetLookup(read_context(fs="zfs-2.2", ram="64G", recordsize="128k", compression="lz4"), LocalHost())
    return list(lint(Source(name, _TEXTS[name]), where))


@pytest.mark.parametrize("name", _TEXTS)
def test_what_is_said_of_any_source_fits_the_schema(name: str) -> None:
    found = _found(name)
    assert found
    assert _errors(json.loads(json.dumps(sarif_of(found)))) == []


def test_nothing_found_fits_the_schema() -> None:
    assert _errors(sarif_of([])) == []


def test_many_sources_in_one_log_fit_the_schema() -> None:
    found = [each for name in _TEXTS for each in _found(name)]
    log = sarif_of(found)
    assert _errors(log) == []
    assert len(log["runs"][0]["results"]) == len(found) > len(_TEXTS)


def test_the_schema_would_refuse_what_is_none() -> None:
    log = sarif_of(_found("job.fio"))
    log["runs"][0]["results"][0]["level"] = "grave"
    assert _errors(log)
