"""Fixes work: a fixed finding is gone, no serious finding replaces it, and only the affected words change."""

import difflib

import pytest

from poolproof.errors import CampaignError
from poolproof.foreign.lint.check import lint
from poolproof.foreign.lint.fix import fix_source
from poolproof.load.fio.job import render
from poolproof.load.fio.load import jobs_of
from poolproof.rules.model import Case
from poolproof.rules.rule_catalogue import all_rules, rule
from tests.unit.foreign.lint.making import KnownTarget, fixed_text, flags, said, source
from tests.unit.rules.examples import EXAMPLES

_MENDING = [each.id for each in all_rules() if each.fixed_options and each.in_job]
_NOT_BY_THE_JOB = {"invalidate-is-not-cold", "zfs-direct-ignored"}
"""Rules whose findings the job alone can't always fix.

On ZFS, on FUSE and with different block sizes, only commands or a person can fix them.
"""


def _cases(rule_id: str) -> list[Case]:
    cases = [example.case for example in EXAMPLES[rule_id] if example.case.outcome is None]
    return [case for case in cases if rule(rule_id).check_job(case)]


@pytest.mark.parametrize("rule_id", _MENDING)
def test_a_mend_takes_its_finding_away(rule_id: str) -> None:
    cases = _cases(rule_id)
    assert cases, "no example speaks before a run"
    gone = 0
    for case in cases:
        where = KnownTarget(case.target, case.evidence)
        before = source(render(jobs_of(case.load)))
        after = fix_source(before, where)
        silent = rule_id not in {each.rule for each in after.left}
        by_a_person = rule_id in _NOT_BY_THE_JOB or (rule_id == "shared-file-numjobs" and len(case.load.parts) > 1)
        assert silent or by_a_person, after.text
        assert not silent or after.text != before.text
        gone += silent
    assert gone


@pytest.mark.parametrize("rule_id", EXAMPLES)
def test_a_mend_brings_nothing_grave(rule_id: str) -> None:
    for case in _jobs_of(rule_id):
        where = KnownTarget(case.target, case.evidence)
        before = source(render(jobs_of(case.load)))
        after = fix_source(before, where)
        grave = {each.rule for each in lint(before, where) if each.severity != "note"}
        assert {each.rule for each in after.left if each.severity != "note"} <= grave, after.text
        assert fix_source(source(after.text), where).text == after.text


def _jobs_of(rule_id: str) -> list[Case]:
    cases = []
    for example in EXAMPLES[rule_id]:
        for case in (example.case, example.near_miss):
            try:
                render(jobs_of(case.load))
            except CampaignError:
                continue
            cases.append(case)
    return cases


def _changed_lines(before: str, after: str) -> list[str]:
    return [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]


def test_a_job_file_keeps_all_that_is_not_mended() -> None:
    text = "; my job\n[global]\nsize=1g\n\n[a]   \n  bs=4KiB  # blocks\nrw=read\n; the end\n"
    after = fixed_text(text).text
    assert _changed_lines(text, after) == ["-   bs=4KiB  # blocks", "+   bs=4k  # blocks"]


def test_what_all_jobs_want_goes_where_they_share_it() -> None:
    text = "[global]\nrw=write\nbs=1m\nsize=1g\n[a]\n[b]\n"
    assert fixed_text(text).text == "[global]\nrw=write\nbs=1m\nsize=1g\nend_fsync=1\n[a]\n[b]\n"


def test_what_one_job_wants_goes_to_its_section() -> None:
    text = "[global]\nsize=1g\nbs=1m\n[a]\nrw=read\n[b]\nrw=write"
    assert fixed_text(text).text == text + "\nend_fsync=1\n"


def test_an_option_is_left_out_with_its_line() -> None:
    text = "[a]\nrw=randread\nsize=1g\ngtod_reduce=1\nbs=4k\n"
    assert fixed_text(text).text == "[a]\nrw=randread\nsize=1g\nbs=4k\n"


def test_an_option_is_not_left_out_if_the_job_then_inherits_another_value() -> None:
    text = "[global]\nrw=read\nbs=1m\nsize=1g\nfsync=none\n[a]\nfsync=0\nfilename=a\n[b]\nfsync=1\nfilename=b\n"
    assert (10, "note", "sync-on-reads") in said(text)
    after = fixed_text(text)
    assert not any(each.severity == "error" for each in after.left)
    assert "fsync=1\n" in after.text


def test_a_shared_file_is_parted_among_the_jobs() -> None:
    text = "[a]\nrw=write\nbs=1m\nfilename=f\nsize=1g\nnumjobs=4\nend_fsync=1\n"
    assert fixed_text(text).text == text.replace("size=1g", "size=256m") + "offset_increment=256m\n"


def test_a_device_is_parted_in_per_cent() -> None:
    text = "fio --name=a --rw=read --bs=1m --filename=/dev/sdb --numjobs=4\n"
    assert fixed_text(text, name="x.sh").text == text.replace("\n", " --size=25% --offset_increment=25%\n")


def test_a_command_keeps_its_form() -> None:
    text = "fio --name=a --rw=write \\\n    --bs=1m --size=1g \\\n    --name=b --rw=read --bs=1m --size=1g | tee log\n"
    after = fixed_text(text, name="x.sh").text
    assert after == text.replace("--size=1g \\", "--size=1g --end_fsync=1 \\")


def test_a_command_in_quotes_is_mended_inside_them() -> None:
    text = "ssh host 'fio --name=b --rw=write --bs=1m --size=1g'\n"
    assert fixed_text(text, name="x.sh").text == text.replace("1g'", "1g --end_fsync=1'")


def test_a_command_that_is_escaped_is_left_alone() -> None:
    text = 'ssh host "fio --name=\\"b\\" --rw=write --bs=1m --size=1g"\n'
    after = fixed_text(text, name="x.sh")
    assert after.text == text
    assert "write-without-sync" in {each.rule for each in after.left}


def test_a_mend_never_rests_on_an_unknown_value() -> None:
    text = "[a]\nrw=write\nbs=1m\nfilename=f\nsize=${HOW_MUCH}\nnumjobs=4\nend_fsync=1\n"
    assert "${HOW_MUCH}" in fixed_text(text).text
    assert "offset_increment" not in fixed_text(text).text


def test_the_mends_of_a_zfs_job_fit_together() -> None:
    where = flags(fs="zfs-2.2", ram="4G", recordsize="128k", compression="lz4")
    text = "fio --name=a --rw=randrw --bs=4k --iodepth=32 --ioengine=libaio --direct=1 --size=1g\n"
    after = fixed_text(text, where, "x.sh")
    assert after.text.split()[1:] == [
        "--name=a", "--rw=randrw", "--bs=4k", "--iodepth=1", "--ioengine=libaio", "--size=8G", *after.text.split()[7:]
    ]  # fmt: skip
    assert set(after.text.split()[7:]) == {"--end_fsync=1", "--randrepeat=0", "--refill_buffers=1"}


def test_a_sound_job_comes_out_as_it_went_in() -> None:
    text = "[a]\nrw=randread\nbs=4k\nsize=16g\ndirect=1\nioengine=io_uring\niodepth=32\n"
    assert said(text) == []
    assert fixed_text(text).text == text


def test_what_is_said_to_be_mended_was_changed() -> None:
    """A fix can also fix another finding.

    direct=1, which is set because of the engine, makes the shared file harmless on ext4, without another change.
    """
    text = "[a]\nioengine=libaio\niodepth=8\nrw=randwrite\nbs=4k\nfilename=f\nsize=1g\nnumjobs=4\nend_fsync=1\n"
    after = fixed_text(text, flags(fs="ext4"))
    assert "direct=1" in after.text
    assert "offset_increment" not in after.text
    assert "async-engine-blocks" in {each.rule for each in after.fixed}
    assert "shared-file-numjobs" not in {each.rule for each in after.fixed}
    assert "shared-file-numjobs" in {each.rule for each in after.resolved}


def test_a_buffered_job_is_given_no_asynchronous_engine() -> None:
    text = "[a]\nrw=randread\nbs=4k\nsize=16g\nioengine=sync\niodepth=32\n"
    assert fixed_text(text).text == text.replace("iodepth=32", "iodepth=1")
    direct = text + "direct=1\n"
    assert fixed_text(direct).text == direct.replace("ioengine=sync", "ioengine=libaio")


_LATE = "comes after"


@pytest.mark.parametrize(
    ("text", "name", "line", "instead"),
    [
        ("fio --name=a --rw=read --bs=4KiB --kb_base=1000 --size=1g\n", "x.sh", 1, "--bs=4096 --kb_base=1000"),
        ("fio --name=a --rw=read --bs=4096 --size=1g --kb_base=1000\n", "x.sh", 1, "--size=1000000000 --kb_base=1000"),
        ("[global]\nsize=1MiB\n[a]\nrw=read\nkb_base=1000\n", "x.fio", 2, "size=1048576\n"),
    ],
)
def test_a_size_before_the_kb_base_that_is_meant_for_it(text: str, name: str, line: int, instead: str) -> None:
    (found,) = [each for each in lint(source(text, name)) if each.rule == "kib-means-1000"]
    assert (found.line, _LATE in found.message) == (line, True)
    after = fixed_text(text, name=name)
    assert instead in after.text
    assert "kib-means-1000" not in {each.rule for each in after.left}


@pytest.mark.parametrize("options", ["--kb_base=1000 --bs=4KiB --size=1g", "--bs=4096 --size=1000000 --kb_base=1000"])
def test_a_kb_base_in_time_is_right(options: str) -> None:
    assert "kib-means-1000" not in {rule for _, _, rule in said(f"fio --name=a --rw=read {options}\n", name="x.sh")}


def test_values_that_fio_misreads_are_not_the_basis_of_a_fix() -> None:
    text = "[a]\nrw=write\nsize = 512m\nfilename=f\nnumjobs=4\nbs=4k\nruntime=300\n"
    assert fixed_text(text).text == text
    assert "size=128m" in fixed_text(text.replace(" = ", "=")).text


_BURST = "fio --name=a --rw=randwrite --bs=4k --size=4g --direct=1 --time_based --runtime=20"


@pytest.mark.parametrize(
    "script",
    [
        "timeout 60 {}", "timeout -k 5 -s INT 60s {}", "/usr/bin/timeout --signal=INT 1m ssh h '{}'", "timeout $T {}",
        "systemd-run -p RuntimeMaxSec=60 {}", "timeout 60 bash <<'EOF'\n{}\nEOF", "timeout 60 sh -c '{}'",
    ],
)  # fmt: skip
def test_a_run_is_not_made_longer_than_its_time_limit(script: str) -> None:
    text = script.format(_BURST) + "\n"
    after = fixed_text(text, name="x.sh")
    assert after.text == text
    (left,) = [each for each in after.left if each.rule == "short-run-burst"]
    assert "ends fio" in left.fix


@pytest.mark.parametrize("before", ["timeout 5m ", "timeout 0 ", "", "nice timeout 2h "])
def test_a_run_within_its_time_limit_is_fixed(before: str) -> None:
    after = fixed_text(f"{before}{_BURST}\n", name="x.sh")
    assert "--runtime=60" in after.text
    assert "short-run-burst" not in {each.rule for each in after.left}
