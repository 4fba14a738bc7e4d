"""Parsing of fio's job files."""

import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poolproof.load.fio.job import render
from poolproof.load.fio.jobfile import read_job_file
from poolproof.load.fio.load import part_of
from tests.unit.load.fio.needs_fio import needs_fio


def test_global_options_apply_to_the_sections_below() -> None:
    read = read_job_file("[global]\nbs=8k\ndirect=1\n[a]\nrw=write\n[global]\nsize=1g\n[b]\nbs=16k\n")
    first, second = read.jobs
    assert (part_of(first).block_bytes, part_of(first).direct, part_of(first).size_bytes) == (8192, True, None)
    assert (part_of(second).block_bytes, part_of(second).direct, part_of(second).size_bytes) == (16384, True, 1 << 30)
    assert read.problems == ()


def test_jobs_and_options_have_line_numbers() -> None:
    first = read_job_file("; a comment\n[global]\nbs=8k\n\n[a]\nrw=write\n").jobs[0]
    assert (first.line, first.lines["bs"], first.lines["rw"]) == (5, 3, 6)


def test_comments_end_a_value_and_the_last_of_a_repeated_option_counts() -> None:
    first = read_job_file("[a]\nrw=write ; no\nsize=1g # yes\nsize=2g\n# x\n  ; y\nfilename=/mnt/a#b\n").jobs[0]
    assert (first.rw, part_of(first).size_bytes, first.filename) == ("write", 2 << 30, "/mnt/a")


def test_a_space_after_the_equals_sign_belongs_to_the_value() -> None:
    assert part_of(read_job_file("[a]\nbs = 4k\n").jobs[0]).block_bytes == 4


def test_variables_and_machine_facts_are_substituted() -> None:
    text = "[a]\nsize=${SIZE}\nfilename=${DIR}/x\nbs=8*$pagesize\nnumjobs=$ncpus\n"
    first = read_job_file(text, environment={"SIZE": "1g"}, machine={"pagesize": 4096}).jobs[0]
    assert (part_of(first).size_bytes, first.filename, part_of(first).block_bytes) == (1 << 30, "${DIR}/x", 32768)
    assert first.text("numjobs") == "$ncpus" and part_of(first).clones == 1


def test_include_inserts_another_file() -> None:
    read = read_job_file("[a]\ninclude more.fio\nrw=write\n", include={"more.fio": "iodepth=4\nrw=read\n"}.get)
    assert (part_of(read.jobs[0]).depth, read.jobs[0].rw, read.jobs[0].lines["iodepth"]) == (4, "write", 2)


def test_a_file_that_includes_itself_is_not_read_forever() -> None:
    read = read_job_file("[a]\ninclude me\n", include={"me": "include me\n"}.get)
    assert read.problems[0].message == "'me' is included more than 8 levels deep, so it is not read"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("rw=read\n[a]\n", 1, "above the first"),
        ("[a]\niodepht=4\n", 2, "`iodepth`"),
        ("[a]\ninclude nowhere\n", 2, "is not here"),
    ],
)
def test_mistakes_are_problems_with_a_line_number(text: str, line: int, message: str) -> None:
    (problem,) = read_job_file(text).problems
    assert problem.line == line and message in problem.message


def test_a_rendered_job_file_is_read_back_unchanged() -> None:
    read = read_job_file("[global]\nbs=8k\n[a]\nrw=write\nstonewall\n[b]\nrw=read\n")
    again = read_job_file(render(read.jobs))
    assert [dict(job.options) for job in again.jobs] == [dict(job.options) for job in read.jobs]


@given(st.text())
def test_no_text_makes_a_traceback(text: str) -> None:
    read = read_job_file(text)
    assert len(read.jobs) <= text.count("[")


LINES = [
    "[global]",
    "[a]",
    "[b b]",
    "bs=8k",
    "rw=write ; x",
    "size=1m",
    "size=2m # y",
    "iodepth=4",
    "",
    "; c",
    " direct=1 ",
]


@needs_fio
@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=10))
def test_the_installed_fio_reads_the_same_options(lines: list[str]) -> None:
    text = "[global]\n" + "\n".join(lines) + "\n[last]\nrw=read\n"
    command = ["fio", "--debug=parse", "--parse-only", "-"]
    said = subprocess.run(command, input=text, capture_output=True, text=True, timeout=20, check=False)
    theirs = re.findall(r" handle_option=(\w+), ptr=(.*)", said.stdout)
    ours = [line.split(";")[0].split("#")[0].strip() for line in lines if "=" in line] + ["rw=read"]
    assert sorted(f"{name}={value}" for name, value in theirs) == sorted(ours)
    assert len(read_job_file(text).jobs) == 1 + sum(line in ("[a]", "[b b]") for line in lines)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("[a]\nsize=1g\nkb_base=1000\n", 10**9),
        ("[global]\nsize=1g\nkb_base=1000\n[a]\nrw=read\n", 10**9),
        ("[global]\nsize=1g\n[a]\nkb_base=1000\n", 1 << 30),
        ("[global]\nsize=1g\nkb_base=1000\n[a]\nkb_base=1024\n", 10**9),
    ],
)
def test_kb_base_affects_its_section_but_not_global_options(text: str, size: int) -> None:
    """fio sorts a section's options by priority, and copies global options after it has read their sizes (init.c)."""
    assert part_of(read_job_file(text).jobs[0]).size_bytes == size
