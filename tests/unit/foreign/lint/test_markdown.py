"""Commands in Markdown."""

import pytest

from tests.unit.foreign.lint.making import fixed_text, rules, said

_COMMAND = "fio --name=a --rw=write --bs=1m --size=8g"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"Don't do this:\n\n```bash\n{_COMMAND}\n```\n\nIt's buffered.\n", 4),
        (f"1. We don't:\n\n    ```shell\n    sudo {_COMMAND}\n    ```\n\n2. It isn't.\n", 4),
        (f"Don't:\n\n    {_COMMAND}\n\nThat's all.\n", 3),
        (f"Isn't `{_COMMAND}` buffered? It's.\n", 1),
        (f'The "raw" disk isn\'t used:\n\n~~~\n$ {_COMMAND}\n~~~\n', 4),
        (f"```\nsh -c 'cd /mnt && {_COMMAND}'\n```\n", 2),
    ],
)
def test_apostrophes_of_the_prose_are_no_quotes(text: str, line: int) -> None:
    assert said(text, name="README.md") == [(line, "warning", "write-without-sync")]


def test_a_file_in_a_session_ends_before_the_prose() -> None:
    job = "[a]\nrw=randread\nsize=9g\ndirect=1\n{}\n"
    shown = f"```sh\n# cat a.job\n{job}```\n\nThen update the tools:\n\n[mirror]\nurl=x\n"
    assert rules(shown.format(""), name="README.md") == set()
    assert rules(shown.format("iodpth=4"), name="README.md") == {"refused-by-fio"}


def test_an_explanation_behind_an_option() -> None:
    job = "```\n[a]\nrw=randread\nsize=9g  // in total,\n         // of all files\ndirect=1\n```\n"
    assert rules(job, name="README.md") == set()
    assert rules(job.replace("```\n", ""), name="a.fio") == {"refused-by-fio"}


def test_only_the_command_is_changed() -> None:
    text = f"Don't:\n\n```bash\n{_COMMAND}\n```\n\nIt's buffered.\n"
    assert fixed_text(text, name="README.md").text == text.replace("=8g", "=8g --end_fsync=1")


_QUOTED = "> We ran this:\n> fio --name=a --rw=write --bs=1m\n>   --size=8g{more}\n> and saw 5 GB/s\n"


def test_a_quoted_command_of_several_lines() -> None:
    assert said(_QUOTED.format(more=""), name="mail.txt") == [(2, "warning", "write-without-sync")]
    assert said(_QUOTED.format(more="\n> --end_fsync=1"), name="mail.txt") == []
    assert rules("> out.txt\nfio --name=a --rw=write --bs=1m --size=8g\n", name="b.sh") == {"write-without-sync"}


@pytest.mark.parametrize("more", ["--end_fsync=1", "  -direct=1 -ioengine=libaio", "--direct 1", "--direct=1 | tee x"])
def test_a_command_that_a_mail_program_wrapped(more: str) -> None:
    text = f"fio --name=a --rw=write --bs=1m --size=8g\n{more}\n"
    assert rules(text, name="mail.txt") == set()
    assert rules(text.replace("\n", "\n\n", 1), name="mail.txt") == {"write-without-sync"}
    assert rules(f"fio --name=a --rw=write --bs=1m --size=8g\n- {more}\n", name="mail.txt") == {"write-without-sync"}


_JOB = "[global]\nrw=write\nsize=8g\n\n[a]\nbs=1m\n"


@pytest.mark.parametrize("name", ["README.md", "post.txt", "-"])
@pytest.mark.parametrize("fence", ["```", "```ini", "~~~", "```ini title=job.fio"])
def test_a_job_file_between_fences(fence: str, name: str) -> None:
    text = f"Don't trust it:\n{fence}\n{_JOB}{fence[:3]}\nRun `fio a.fio`.\n"
    assert said(text, name=name) == [(4, "warning", "write-without-sync")]
    assert said(text.replace("bs=1m", "bs=1m\nend_fsync=1"), name=name) == []
    fixed = fixed_text(text, name=name)
    assert fixed.text == text.replace("bs=1m\n", "bs=1m\nend_fsync=1\n") and not fixed.left


def test_other_files_between_fences() -> None:
    text = "```ini\n[server]\nport=1\nsize=9\nhost=a\n```\n```\nfio --name=a --rw=write --bs=1m --size=8g\n```\n"
    assert said(text, name="README.md") == [(8, "warning", "write-without-sync")]
    assert said(f"```\n{_JOB}", name="README.md") != [(3, "warning", "write-without-sync")]


@pytest.mark.parametrize(
    "line", ["--end_fsync=1 syncs at the end", "--direct: bypass RAM", "-- and so on", "--rw read it"]
)
def test_a_line_that_explains_an_option_is_not_part_of_the_command(line: str) -> None:
    text = f"fio --name=a --rw=write --bs=1m --size=8g\n{line}\n"
    assert said(text, name="doc.txt") == [(1, "warning", "write-without-sync")]


@pytest.mark.parametrize("name", ["issue.md", "-"])
def test_the_prompt_of_root_in_a_fence(name: str) -> None:
    assert said(f"It's slow:\n```\n# {_COMMAND}\n```\n", name=name) == [(3, "warning", "write-without-sync")]
    assert rules(f"It's slow:\n```bash\n# {_COMMAND}\n```\n", name=name) == {"no-job"}
    comment = f"It's slow:\n```\n# {_COMMAND}\n{_COMMAND} --end_fsync=1\n```\n"
    assert rules(comment, name=name) == set()


def test_an_indented_job_file() -> None:
    text = "Save it as a.fio:\n\n    [global]\n    size=8g\n\n    [w]\n    rw=write\n    bs=1m\n\nThen run fio a.fio.\n"
    assert said(text, name="README.md") == [(7, "warning", "write-without-sync")]
    assert rules(text.replace("bs=1m", "bs=1m\n    end_fsync=1"), name="README.md") == set()
    assert "write-without-sync" not in rules(text.replace("    [", "["), name="README.md")


@pytest.mark.parametrize("dots", ["...", "....", "…", "[...]"])
def test_dots_stand_for_more_options(dots: str) -> None:
    assert rules(f"```\n{_COMMAND} {dots}\n```\n", name="README.md") == {"unknown-variable"}


def test_options_without_quotes_in_a_variable() -> None:
    text = "    $ ARGS=--size=8g --direct=1 --runtime=60 --time_based\n    $ fio $ARGS --name=a --rw=randread --bs=4k\n"
    assert rules(text, name="README.md") == set()
    assert "async-engine-blocks" in rules(text.replace("--direct=1", "--ioengine=libaio --iodepth=8"), name="README.md")


def test_a_job_file_in_the_prose_of_an_issue() -> None:
    job = "[global]\nioengine=psync\niodepth=8\nsize=9g\n\n[a]\nrw=randread\nbs=4k\nfilename=/mnt/f\n"
    text = f"It is slow.\n\n<details>\n<summary>job</summary>\n\n{job}\n</details>\n\nThanks\n"
    assert said(text, name="issue") == [(8, "warning", "iodepth-with-sync-engine")]
    assert said(f"It is slow.\n\n{job}thanks\n", name="issue.md") == [(5, "warning", "iodepth-with-sync-engine")]
    assert said(f"Slow:\n```\n{job}```\n", name="issue.md") == [(5, "warning", "iodepth-with-sync-engine")]
    assert rules("Notes\n\n[link]\nsee=this\nname=a\n", name="notes.md") == {"no-job"}


def test_prose_about_fio_is_not_a_command() -> None:
    text = "It uses the\nfio --client option to start the jobs. The\nfio job file directory must exist.\n"
    assert said(text, name="notes.md") == [(1, "note", "no-job")]
    text = "Run\nfio --name=a --rw=write --bs=1m --size=8g --filename=/mnt/f\n"
    assert said(text, name="notes.md") == [(2, "warning", "write-without-sync")]
    assert rules("Run `fio jobs/a.fio`, or\nfio -name a -rw write -size 8g -bs 1m\n", name="notes.md") == {
        "no-job",
        "write-without-sync",
    }
