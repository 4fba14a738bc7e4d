"""fio command lines, in the forms in which people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.load.fio.commandline import Command, read_arguments, read_command
from poolproof.load.fio.load import load_of, part_of


def command(text: str) -> Command:
    found = read_command(text)
    assert found is not None
    return found


def options(text: str) -> dict[str, str]:
    (job,) = command(text).jobs
    return dict(job.options)


def test_aliases_and_prefixes_are_resolved() -> None:
    assert options("fio --name=a --readwrite=randread --blocksize=4k --time_base --runt=5") == {
        "rw": "randread",
        "bs": "4k",
        "time_based": "",
        "runtime": "5",
    }


def test_options_may_have_one_dash_and_values_after_a_space() -> None:
    text = "fio -filename=/dev/sda -direct=1 -iodepth 8 -thread -rw=randread -ioengine psync -name=mytest"
    found = options(text)
    assert (found["iodepth"], found["thread"], found["ioengine"], found["rw"]) == ("8", "", "psync", "randread")


def test_options_before_the_first_name_apply_to_all_jobs() -> None:
    jobs = command("fio --rw=read --size=10G --name=a --offset=0G --name=b --offset=10G").jobs
    assert [(job.name, job.rw, job.number("offset")) for job in jobs] == [("a", "read", 0), ("b", "read", 10 << 30)]
    assert load_of(jobs).sharers == 1


def test_options_of_one_job_do_not_apply_to_the_next() -> None:
    first, second = command("fio --name=a --bs=8k --name=b --size=1g").jobs
    assert (part_of(first).block_bytes, part_of(second).block_bytes, part_of(second).size_bytes) == (
        8192,
        4096,
        1 << 30,
    )


def test_a_later_global_applies_to_the_jobs_after_it() -> None:
    first, second = command("fio --name=a --bs=8k --name=global --direct=1 --name=b").jobs
    assert (part_of(first).direct, part_of(second).direct) == (False, True)


@pytest.mark.parametrize(
    "text",
    [
        "root@box:/test# fio --name=a --rw=read --size=1G",
        "$ sudo fio --name=a --rw=read --size=1G | tee out.txt",
        "# ./fio-3-28-115 --name=a --rw=read --size=1G > /tmp/out 2>&1",
        "LD_PRELOAD=x /usr/bin/fio --name=a --rw=read --size=1G && sync",
        "fio --name=a \\\n  --rw=read \\\n  --size=1G",
        "for i in 1 2; do fio --name=a --rw=read --size=1G; done",
        "bash -c 'fio --name=a --rw=read --size=1G'",
    ],
)
def test_text_around_the_command_is_ignored(text: str) -> None:
    assert options(text) == {"rw": "read", "size": "1G"}
    assert command(text).files == ()


def test_quoted_values_keep_their_spaces() -> None:
    assert options("""fio --name=a --exec_prerun="echo a; sleep 1" --filename='/mnt/a b'""") == {
        "exec_prerun": "echo a; sleep 1",
        "filename": "/mnt/a b",
    }


def test_program_options_are_separate_from_job_options() -> None:
    found = command("fio job.fio --output-format=json --output x.json --minimal")
    assert found.files == ("job.fio",)
    assert found.program == (("output-format", "json"), ("output", "x.json"), ("minimal", ""))
    assert found.runs


@pytest.mark.parametrize(
    "text", ["", "see the fio docs", "fio", "when fio is run, disks work", "the portfolio --name=x"]
)
def test_prose_is_not_a_command(text: str) -> None:
    assert read_command(text) is None


def test_a_misspelt_option_is_a_problem_with_a_suggestion() -> None:
    (problem,) = command("fio --name=a --iodepht=4").problems
    assert "iodepht" in problem.message and "`iodepth`" in problem.message


def test_an_option_that_resembles_no_other_is_not_a_certain_problem() -> None:
    (problem,) = command("fio --name=a --qqqqqqqq=4").problems
    assert not problem.is_certain


def test_a_missing_value_is_a_problem() -> None:
    (problem,) = command("fio --name=a --iodepth").problems
    assert "needs a value" in problem.message


def test_shell_variables_stay_as_written() -> None:
    (job,) = command("fio --name=a --rw=$RW --bs=${BS}").jobs
    assert job.text("bs") == "${BS}" and part_of(job).block_bytes == 4096


@given(
    st.lists(st.text(max_size=20) | st.sampled_from(["--name=a", "--rw", "-bs=4k", "--", "-", "--name", "=", "--="]))
)
def test_arbitrary_arguments_raise_nothing(arguments: list[str]) -> None:
    found = read_arguments(arguments)
    assert len(found.jobs) <= len(arguments)


@given(st.text(max_size=100))
def test_an_arbitrary_line_raises_nothing(text: str) -> None:
    found = read_command(f"fio --name=a {text}")
    assert found is None or found.text.startswith("fio")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("fio --name=a --kb_base=1000 --size=1g", 10**9),
        ("fio --name=a --size=1g --kb_base=1000", 1 << 30),
        ("fio --name=a --size=1GiB --kb_base=1000", 10**9),
        ("fio --name=a --size=1g --kb_base=1000 --size=1g", 10**9),
        ("fio --kb_base=1000 --size=1g --name=a", 10**9),
        ("fio --size=1g --kb_base=1000 --name=a", 1 << 30),
        ("fio --size=1g --name=a --kb_base=1000", 1 << 30),
        ("fio --kb_base=1000 --size=1g --name=a --kb_base=1024", 10**9),
        ("fio --kb_base=1000 --name=a --size=1g --kb_base=1024", 10**9),
        ("fio --name=a --size=1g --kb_base=1024", 1 << 30),
        ("fio --size=1g --name=global --kb_base=1000 --name=a", 1 << 30),
    ],
)
def test_kb_base_affects_only_the_options_after_it(text: str, size: int) -> None:
    """The results were measured with fio 3.33 for one job.

    fio copies global options to other jobs only after it has read their values.
    """
    assert part_of(command(text).jobs[0]).size_bytes == size


def test_kb_base_after_two_sizes_affects_only_the_size_that_follows() -> None:
    (job,) = command("fio --name=a --bs=4KiB --filesize=1m --kb_base=1000 --io_size=1m").jobs
    assert (part_of(job).block_bytes, part_of(job).extents[0].end, part_of(job).io_size_bytes) == (4000, 1 << 20, 10**6)
