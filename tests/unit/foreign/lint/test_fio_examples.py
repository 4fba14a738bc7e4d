"""fio's own examples cause no false errors, and only warnings that were reviewed individually and found correct."""

import pytest

from poolproof.foreign.lint.check import lint
from poolproof.foreign.lint.fix import fix_source
from poolproof.foreign.lint.refusals import InstalledFio
from poolproof.hosts.local import LocalHost
from tests.unit.foreign.lint.fio_examples import fio_examples
from tests.unit.foreign.lint.making import source

_FEWEST = 60
_ONLY_MEANT = {
    "async-engine-blocks": {  # libaio, no direct=1, a depth of 16 and more
        "dedupe-global.fio", "e4defrag2.fio", "exitwhat.fio", "fio-rand-RW.fio", "fio-rand-read.fio",
        "fio-rand-write.fio", "fio-seq-RW.fio", "fio-seq-write.fio",
    },
    "iodepth-with-sync-engine": {"ime.fio"},  # ime_psync at a depth of 32
    "kib-means-1000": {"librpma_apm-client.fio", "librpma_gpspm-client.fio"},  # bs=4KiB: blocks of 4000 bytes
    "destroys-data": {  # each writes to or trims a device
        "basic-verify.fio", "cmdprio-bssplit.fio", "cross-stripe-verify.fio", "dev-dax.fio", "jesd219.fio",
        "libzbc-rand-write.fio", "mtd.fio", "sg_verify-fail.fio", "sg_verify.fio", "sg_write_same_ndob.fio",
        "ssd-steadystate.fio", "uring-cmd-ng.fio", "uring-cmd-zoned.fio", "zbd-rand-write.fio",
    },
    "flow-ratio": {"flow.fio"},  # a depth of 256, and flow_sleep empties the queue
    "runtime-without-time-based": {  # done within 10 s, direct I/O also at 100 MB/s
        "e4defrag.fio", "waitfor.fio",
    },
    "read-after-write": {"waitfor.fio"},  # readers wait for buffered writers
    "shared-file-numjobs": {  # clones in sequence from one offset of one file
        "fio-seq-RW.fio", "waitfor.fio",
    },
    "volatile-target": {"steadystate.fio"},  # /dev/null
    "write-without-sync": {  # buffered, no sync of any kind
        "dedupe-global.fio", "e4defrag2.fio", "exitwhat.fio", "fio-rand-RW.fio", "fio-rand-write.fio", "fio-seq-RW.fio",
        "fio-seq-write.fio", "waitfor.fio",
    },
}  # fmt: skip
"""The warnings for the examples of fio 3.33.

Later releases may contain more examples, whose warnings must then be reviewed.
"""


@pytest.fixture(scope="module")
def examples() -> dict[str, str]:
    """The examples.

    The tests fail if they are neither installed nor can be downloaded, because a run without them proves nothing.
    """
    found = fio_examples()
    assert len(found) >= _FEWEST
    return found


def test_none_has_an_error(examples: dict[str, str]) -> None:
    found = [each for name, text in examples.items() for each in lint(source(text, name))]
    assert not [each for each in found if each.severity == "error"]
    assert not [each for each in found if each.rule == "unknown-option"]


@pytest.mark.slow
def test_the_fio_of_this_machine_refuses_none(examples: dict[str, str]) -> None:
    """An option that only another release, or a build with CUDA, supports causes a warning."""
    here = InstalledFio(LocalHost())
    found = [each for name, text in examples.items() for each in lint(source(text, name), None, here)]
    assert not [each for each in found if each.severity == "error"]
    # One example has neither a size nor a file, which is a note.
    assert {each.source for each in found if each.rule == "refused-by-fio" and each.severity != "note"} == set()


def test_every_warning_was_looked_at(examples: dict[str, str]) -> None:
    warnings: dict[str, set[str]] = {}
    for name, text in examples.items():
        for each in lint(source(text, name)):
            if each.severity == "warning":
                warnings.setdefault(each.rule, set()).add(name)
    assert warnings == {rule: names & set(examples) for rule, names in _ONLY_MEANT.items()}


def test_each_is_mended_to_its_end(examples: dict[str, str]) -> None:
    for name, text in examples.items():
        once = fix_source(source(text, name))
        assert not [each for each in once.left if each.severity == "error"], name
        assert fix_source(source(once.text, name)).text == once.text, name
        grave = [each for each in lint(source(text, name)) if each.severity != "note"]
        assert len([each for each in once.left if each.severity != "note"]) <= len(grave), name
