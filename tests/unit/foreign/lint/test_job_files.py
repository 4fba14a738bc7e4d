"""Job files: inheritance, includes, variables and units. Each finding has the right line number."""

import pytest

from poolproof.foreign.lint.check import lint
from poolproof.foreign.lint.sources import Source
from tests.unit.foreign.lint.making import rules, said, source


def test_a_global_option_is_pointed_at_where_it_stands() -> None:
    text = "; a comment\n[global]\nsize=1g\nioengine=libaio\niodepth=16\n\n[a]\nrw=randread\n[b]\nrw=randread\n"
    assert (5, "warning", "async-engine-blocks") in said(text)


def test_a_section_overrides_what_it_inherits() -> None:
    text = "[global]\nrw=write\nsize=1g\n[a]\nend_fsync=1\nbs=1m\n[b]\nbs=1m\nend_fsync=0\n"
    assert [line for line, _, rule in said(text) if rule == "write-without-sync"] == [2]
    assert "`b`" in _message(text, "write-without-sync")
    assert "`a`" not in _message(text, "write-without-sync")


def test_a_global_section_holds_for_the_sections_below_it() -> None:
    text = "[a]\nrw=write\nsize=1g\nbs=1m\n[global]\nend_fsync=1\n[b]\nrw=write\nsize=1g\nbs=1m\n"
    assert [line for line, _, rule in said(text) if rule == "write-without-sync"] == [2]


def test_the_last_of_a_repeated_option_counts() -> None:
    assert "write-without-sync" in _rules("[a]\nrw=read\nrw=write\nsize=1g\n")
    assert "write-without-sync" not in _rules("[a]\nrw=write\nrw=read\nsize=1g\n")


def test_an_included_file_counts_and_points_at_its_line() -> None:
    text = "[global]\ninclude shared.inc\n[a]\nrw=randread\nsize=1g\niodepth=16\n"
    assert "async-engine-blocks" not in _rules(text)
    assert (3, "error", "refused-by-fio") in said("[a]\nrw=read\ninclude jobs.inc\n")  # it has a section
    assert (1, "error", "refused-by-fio") in said("include shared.inc\n[a]\nrw=read\nsize=1g\n")


def test_an_included_file_may_exist_where_fio_runs() -> None:
    """Its options are unknown, so lint reports only what no option can fix."""
    text = "[a]\nrw=write\nioengine=psync\niodepth=4\ninclude none.inc\n"
    assert lint(Source("a.fio", text))[-1].severity == "note"
    assert {each.rule for each in lint(Source("a.fio", text))} == {"refused-by-fio"}
    assert {"write-without-sync", "iodepth-with-sync-engine"} <= _rules(text.replace("include none.inc\n", ""))


def test_an_included_file_that_is_not_readable() -> None:
    assert (2, "error", "refused-by-fio") in said("[a]\ninclude none.inc\nrw=read\nsize=1g\n")


def test_the_environment_fills_variables() -> None:
    text = "[a]\nrw=read\nbs=1m\nsize=${SIZE}\nruntime=30\n"
    assert "64 MiB" in _message(text, "runtime-without-time-based")


def test_a_variable_that_is_not_known_is_told_and_not_guessed() -> None:
    text = "[a]\nrw=write\nbs=1m\nsize=1g\ndirect=${DIRECT}\n"
    assert said(text) == [(5, "note", "unknown-variable")]


def test_what_holds_for_any_value_is_told_all_the_same() -> None:
    text = "[a]\nrw=write\nfilename=f\nnumjobs=4\nsize=${HOW_MUCH}\nend_fsync=1\nbs=1m\n"
    assert (4, "warning", "shared-file-numjobs") in said(text)
    assert "GiB" not in _message(text, "shared-file-numjobs")


def test_the_machine_fills_its_own_words() -> None:
    assert "4 jobs" in _message("[a]\nrw=write\nfilename=f\nnumjobs=$ncpus\nsize=1g\n", "shared-file-numjobs")


def test_units_are_read_as_fio_reads_them() -> None:
    assert "4000 bytes" in _message("[a]\nrw=read\nbs=4KiB\nsize=1g\n", "kib-means-1000")
    assert "kib-means-1000" not in _rules("[a]\nkb_base=1000\nrw=read\nbs=4KiB\nsize=1g\n")
    both = _message("[a]\nrw=read\nbs=4KiB\nsize=1GiB\n", "kib-means-1000")
    assert "blocks of 4000 bytes and a size of 1000000000 bytes" in both
    of_others = _message("[a]\nrw=read\nsize=1g\nio_size=4GiB\n", "kib-means-1000")
    assert "blocks" not in of_others and "1073741824" not in of_others


def test_the_settings_of_a_plot_are_not_a_job_file() -> None:
    own = "[graphs]\nrw = randread\nnumjobs = 1\n" + "".join(f"color_{each} = 1\n" for each in "abcdefgh")
    assert rules(own, name="plot.ini") == {"no-job"}
    assert "refused-by-fio" in rules("[a]\nrw=randread\nsize=1g\niodpth=4\nblokcsize=4k\nfilnam=x\n", name="a.ini")


@pytest.mark.parametrize(
    ("names", "is_told"),
    [("file1:file2", False), ("a/1.dat:a/2.dat", False), ("0000:01:00.0", True), ("data:log", True)],
)
def test_a_list_of_numbered_files_is_intended(names: str, *, is_told: bool) -> None:
    assert ("colon-in-filename" in _rules(f"[a]\nrw=read\nsize=1g\nfilename={names}\n")) is is_told


def test_sync_file_range_writes_back_before_the_end() -> None:
    text = "[a]\nrw=write\nsize=1g\ntime_based\nruntime=60\nend_fsync=1\n"
    assert "rewritten-before-sync" in _rules(text)
    assert "rewritten-before-sync" not in _rules(f"{text}sync_file_range=write:32\n")


def test_random_writers_rarely_meet_on_a_whole_disk() -> None:
    text = "[a]\nrw=randwrite\nfilename=/dev/sdX\nnumjobs=4\nend_fsync=1\n"
    assert "shared-file-numjobs" not in _rules(text)
    assert "shared-file-numjobs" in _rules(f"{text}size=1g\n")
    assert "shared-file-numjobs" in _rules(text.replace("randwrite", "write"))


def test_a_device_of_spdk_is_no_file() -> None:
    text = "[a]\nioengine={}\nrw=read\ndirect=1\nnumjobs=4\nsize=1g\nfilename={}\n"
    spdk = _message(text.format("spdk", "trtype=PCIe traddr=0000.49.00.0 ns=1"), "shared-file-numjobs")
    assert "one device" in spdk and "the drive's cache" in spdk
    assert "if direct=1 is not honoured" in _message(text.format("libaio", "/mnt/f"), "shared-file-numjobs")


def test_buffered_jobs_share_a_device() -> None:
    text = "[a]\nrw=read\nnumjobs=4\nsize=1g\nfilename={}\n"
    assert "of one device" in _message(text.format("/dev/sdb"), "shared-file-numjobs")
    assert "of one file" in _message(text.format("/mnt/f"), "shared-file-numjobs")


def test_the_fix_of_merged_percentiles_names_only_options_of_the_job() -> None:
    mixed = "[a]\nrw=randrw\ndirect=1\nsize=9g\nunified_rw_reporting=1\n"
    (fix,) = [each.fix for each in lint(source(mixed)) if each.rule == "merged-percentiles"]
    assert "group_reporting" not in fix
    apart = "[global]\ndirect=1\nsize=9g\ngroup_reporting\n[a]\nrw=randread\n[b]\nrw=randwrite\n"
    (fix,) = [each.fix for each in lint(source(apart)) if each.rule == "merged-percentiles"]
    assert "group_reporting" in fix and "unified" not in fix


def test_an_option_of_the_command_line_in_a_job_file() -> None:
    assert "command line" in _message("[a]\nrw=read\nsize=1g\neta-newline=1\n", "refused-by-fio")
    assert "command line" not in _message("[a]\nrw=read\nsize=1g\nquantum=1\n", "refused-by-fio")


def test_an_option_that_is_misspelt_in_each_section_is_one_finding() -> None:
    text = "[a]\nrw=read\nsize=1g\nrmptime=4\n[b]\nrw=read\nsize=1g\nrmptime={}\n"
    found = [each for each in lint(source(text.format(4))) if each.rule == "refused-by-fio"]
    assert [(each.line, each.message.endswith("(also on line 8)")) for each in found] == [(4, True)]


@pytest.mark.parametrize("line", ["{{ options }}", "{{parameter}}", "@OPTIONS@", "$OPTIONS"])
def test_a_line_that_a_template_replaces(line: str) -> None:
    text = f"[a]\nrw=write\nsize=1g\n{line}\n"
    assert _rules(text) == {"unknown-variable"}
    assert "refused-by-fio" in _rules(text.replace(line, "{parameter"))


def test_jobs_with_the_same_name_are_counted() -> None:
    text = "[global]\nioengine=psync\niodepth=4\nrw=randread\nsize=1g\n[{}]\n[{}]\n"
    assert "each of the 2 jobs `a` sets" in _message(text.format("a", "a"), "iodepth-with-sync-engine")
    assert "each of the jobs `a`, `b` sets" in _message(text.format("a", "b"), "iodepth-with-sync-engine")


@pytest.mark.parametrize(("size", "is_told"), [("4g", False), ("60g", True)])
def test_a_long_write_leaves_only_its_end_dirty(size: str, *, is_told: bool) -> None:
    write = "[global]\nfilename=/mnt/f\nstonewall\n[w]\nrw=write\nbs=1m\nsize=64g\n"
    text = f"{write}[r]\nrw=randread\nsize={size}\n"
    assert ("read-after-write" in _rules(text)) is is_told
    assert "read-after-write" in _rules(text.replace("rw=randread", "rw=randread\ninvalidate=0"))
    assert "read-after-write" in _rules(text.replace("rw=write", "rw=randwrite"))


def test_a_device_in_a_placeholder_needs_no_size() -> None:
    """Documentation writes /dev/sdXXX for the reader's own disk, which has a size."""
    text = "[a]\nrw=randread\nfilename=PUT {} HERE\n"
    assert "refused-by-fio" in _rules(text.format("A FILE"))
    assert "refused-by-fio" not in _rules(text.format("/dev/sdXXX"))


def test_a_comment_behind_a_value_is_none_of_it() -> None:
    assert "write-without-sync" not in _rules("[a]\nrw=write ; rw\nsize=1g\nend_fsync=1 # safe\n")


def test_what_fio_would_refuse_is_an_error_at_its_line() -> None:
    assert (3, "error", "refused-by-fio") in said("[a]\nrw=read\niodepht=16\nsize=1g\n")
    assert (1, "error", "refused-by-fio") in said("rw=read\n")
    assert said("[global]\n") == [(1, "error", "refused-by-fio")]


def test_options_without_a_job_are_for_another_file() -> None:
    assert said("[global]\nrw=read\n") == [(1, "note", "refused-by-fio")]


_ODD = "[a]\nrw=read\nquantum_entangle=1\nsize=1g\n"


def test_an_option_like_no_other_is_an_error() -> None:
    assert (3, "error", "refused-by-fio") in said(_ODD)


@pytest.mark.parametrize(
    ("text", "how"),
    [
        (f"# for fio-3.99\n{_ODD}", "warning"),
        (f"{_ODD}ioengine=rbd\n", "warning"),
        (f"{_ODD}ioengine=external:/opt/own.so\n", "note"),
    ],
)
def test_an_option_may_be_another_releases_or_an_engines_own(text: str, how: str) -> None:
    severities = {(severity, rule) for _, severity, rule in said(text)}
    assert (how, "unknown-option") in severities
    assert ("error", "refused-by-fio") not in severities


def test_a_section_that_is_not_closed() -> None:
    assert (1, "warning", "misread-by-fio") in said("[ab\nrw=read\n", name="job")
    assert (4, "warning", "misread-by-fio") in said("[a]\nrw=read\nsize=1g\n[b\nrw=write\n")
    assert said("[ -f x ] && true\n", name="x.sh")[0][1] == "note"


def test_what_is_no_text() -> None:
    junk = bytes(range(256)).decode(errors="replace")
    assert said(junk) == said("[a]\nrw=read\0\n", name="x") == [(1, "error", "not-text")]
    assert said("# caf\ufffd\n[a]\nrw=read\nbs=1m\nsize=1g\n") == []


def test_line_ends_of_another_system() -> None:
    assert (2, "warning", "write-without-sync") in said("[a]\r\nrw=write\r\nsize=1g\r\nbs=1m\r\n")


def _message(text: str, rule: str) -> str:
    from poolproof.foreign.lint.check import lint

    return next(each.message for each in lint(source(text)) if each.rule == rule)


def _rules(text: str) -> set[str]:
    return {rule for _, _, rule in said(text)}


@pytest.mark.parametrize("prompt", ["$ ", "root@h:~# ", "[root@h ~]# ", "> "])
def test_a_job_file_that_a_session_shows(prompt: str) -> None:
    job = "; a comment\n[a]\nrw=write\nbs=1m\nsize=8g\n"
    text = f"{prompt}cat a.fio\n{job}\n{prompt}fio a.fio\na: (g=0): rw=write\n"
    assert said(text, name="post.txt") == [(4, "warning", "write-without-sync")]
    assert said(text.replace("bs=1m", "end_fsync=1\nbs=1m"), name="post.txt") == []
    assert said(text.replace("fio a.fio", "ls"), name="post.txt") == [(4, "warning", "write-without-sync")]
    assert rules(text.replace("rw=", "x=").replace("bs=", "y=").replace("size=", "z="), name="post.txt") == {"no-job"}


@pytest.mark.parametrize("start", ["{# a template #}\n", "{# two\nlines #}\n", "{% set x = 1 %}\n; job\n"])
def test_a_template_of_a_job_file(start: str) -> None:
    text = f"{start}[a]\nrw=write\nbs=1m\nsize={{{{ size }}}}\n"
    line = start.count("\n") + 2
    assert (line, "warning", "write-without-sync") in said(text, name="job.fio.j2")
    assert "refused-by-fio" not in _rules(text)


_OTHER = "[global]\nruntime=40\nmonitor=all\n\n[job]\nengine=fio\nengine_module=cmdline\nselected_cpus=all\n"


def test_the_configuration_of_another_program_is_not_a_job_file() -> None:
    assert said(_OTHER, name="bench.conf") == [(1, "note", "no-job")]
    assert ("error", "refused-by-fio") in {each[1:] for each in said(_OTHER, name="bench.fio")}
    assert ("error", "refused-by-fio") in {each[1:] for each in said(_OTHER + "rw=read\n", name="bench.conf")}


def test_a_comment_that_explains_a_placeholder() -> None:
    text = "# $target: the device\n[a]\nfilename=$target\nrw=randread\nsize=9g\n"
    assert said(text) == [(3, "note", "unknown-variable")]
    assert said(text.replace("# $target", "# target")) == [(3, "warning", "misread-by-fio")]


def test_a_job_file_whose_engine_the_command_line_sets() -> None:
    text = "[a]\nrw=randwrite\nsize=9g\nbs=4k\niodepth=8\n"
    assert rules(text) >= {"write-without-sync", "iodepth-with-sync-engine"}
    for option in ("fdp=1", "xnvme_async=io_uring_cmd", "cmd_type=nvme"):
        assert rules(f"{text}{option}\n").isdisjoint({"write-without-sync", "iodepth-with-sync-engine"})
