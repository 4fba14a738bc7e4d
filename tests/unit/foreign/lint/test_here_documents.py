"""Job files and scripts in here-documents: what the shell expands, who runs them, and in which order."""

import pytest

from poolproof.foreign.lint.check import lint
from poolproof.foreign.lint.model import Diagnostic
from tests.unit.foreign.lint.making import fixed_text, rules, said, source

_WRITES = "[w]\nrw=write\nbs=1m\nsize=16g\nfilename=/mnt/f\nend_fsync=1\n"
_READS = "[r]\nrw=read\nbs=1m\nsize=16g\nfilename=/mnt/f\ninvalidate=0\n"
_RAW = "fio --name=w --filename=/dev/sdq --rw=write --bs=1m --direct=1 --time_based --runtime=60 --ramp_time=5"


def _found(text: str, rule: str) -> list[Diagnostic]:
    return [each for each in lint(source(text, "b.sh")) if each.rule == rule]


@pytest.mark.parametrize(
    ("script", "is_known"),
    [
        ("D=/dev/sdq\ncat > j.fio <<EOF\n[w]\nrw=write\nfilename=$D\nEOF\n", True),
        ("D=/dev/sdq\ncat > j.fio <<EOF\n[w]\nrw=write\nfilename=${D}\nEOF\n", True),
        ("cat > j.fio <<EOF\n[w]\nrw=write\nfilename=${D:-/dev/sdq}\nEOF\n", True),
        ("export D=/dev/sdq\ncat > j.fio <<'EOF'\n[w]\nrw=write\nfilename=${D}\nEOF\n", True),
        ("D=/dev/sdq fio - <<'EOF'\n[w]\nrw=write\nfilename=${D}\nEOF\n", True),
        ("D=/dev/sdq\ncat > j.fio <<'EOF'\n[w]\nrw=write\nfilename=${D}\nEOF\n", False),
        ("D=/dev/sdq\ncat > j.fio <<EOF\n[w]\nrw=write\nfilename=\\${D}\nEOF\n", False),
        ("for d in /dev/sdq; do\nfio - <<EOF\n[w]\nrw=write\nfilename=$d\nEOF\ndone\n", True),
    ],
)
def test_variables_in_a_job_file(script: str, *, is_known: bool) -> None:
    """The shell expands a here-document unless its mark is quoted. fio expands what the script exports."""
    assert bool(_found(script, "unknown-variable")) is not is_known
    assert [each.message for each in _found(script, "destroys-data") if "/dev/sdq" in each.message] or not is_known


def test_an_expanded_job_file_is_not_changed() -> None:
    text = "BS=1m\nfio - <<EOF\n[w]\nrw=write\nbs=$BS\nsize=1g\nEOF\n"
    assert [(line, rule) for line, _, rule in said(text, name="b.sh") if rule == "write-without-sync"] == [
        (4, _UNSYNCED)
    ]
    assert fixed_text(text, name="b.sh").text == text
    assert fixed_text(text.replace("<<EOF", "<<'EOF'").replace("$BS", "1m"), name="b.sh").text != text


_UNSYNCED = "write-without-sync"


@pytest.mark.parametrize(
    ("script", "line"),
    [
        (f"ssh root@h bash -s <<'EOF'\nset -e\n{_RAW}\nEOF\n", 3),
        (f"cat > /root/b.sh <<EOF\n#!/bin/sh\n{_RAW}\nEOF\nsh /root/b.sh\n", 3),
        (f"sudo tee b.sh <<EOF\n{_RAW}\nEOF\n", 2),
        (f"cat <<EOF | ssh h sh\n{_RAW}\nEOF\n", 2),
        (f"cat <<EOF\nusage: {_RAW}\nEOF\n", None),
        (f": <<'EOF'\n{_RAW}\nEOF\n", None),
        (": <<'EOF'\n[w]\nrw=write\nfilename=/dev/sdq\nEOF\n", None),
    ],
)
def test_a_script_for_another_shell(script: str, line: int | None) -> None:
    assert [each.line for each in _found(script, "destroys-data")] == ([] if line is None else [line])


def test_job_files_run_in_the_order_of_the_commands() -> None:
    files = f"cat > w.fio <<EOF\n{_WRITES}EOF\ncat > r.fio <<EOF\n{_READS}EOF\n"
    drop = "sync; echo 3 > /proc/sys/vm/drop_caches\n"
    assert "read-after-write" in rules(f"{files}fio w.fio\nfio r.fio\n", name="b.sh")
    assert "read-after-write" not in rules(f"{files}fio w.fio\n{drop}fio r.fio\n", name="b.sh")
    assert "read-after-write" not in rules(f"{files}fio r.fio\nfio w.fio\n", name="b.sh")


def test_an_empty_job_file_that_is_appended() -> None:
    assert rules(">> j.fio cat <<EOF\nEOF\nfio j.fio\n", name="b.sh") == rules("fio j.fio\n", name="b.sh")
    assert rules(">>fio <<EOF\n", name="b.sh") == {"no-job"}


def test_sections_that_a_script_appends() -> None:
    shared = "cat > j.fio <<EOF\n[global]\ndirect=1\nbs=1m\nsize=1g\nEOF\n"
    more = "cat >> j.fio <<EOF\n[a]\nrw=write\nEOF\n"
    assert _UNSYNCED in rules(f"{shared}{more}fio j.fio\n".replace("direct=1\n", ""), name="b.sh")
    assert rules(f"{shared}{more}fio j.fio\n", name="b.sh") == set()
    assert _UNSYNCED in rules(f"{shared}{more.replace('>>', '>')}fio j.fio\n", name="b.sh")


def test_a_job_file_without_a_job() -> None:
    text = "cat > j.fio <<EOF\n[global]\ndirect=1\nruntime=5[sda]\nfilename=/dev/sda\nEOF\nfio j.fio\n"
    (found,) = _found(text, "refused-by-fio")
    assert found.line == 2 and "No job(s) defined" in found.message
    assert not _found(text.replace("fio j.fio\n", ""), "refused-by-fio")


def test_options_before_a_job_file_apply_to_its_jobs() -> None:
    job = "<<EOF\n[a]\nrw=write\nbs=1m\nsize=1g\nEOF\n"
    assert _UNSYNCED in rules(f"fio - {job}", name="b.sh")
    assert _UNSYNCED not in rules(f"fio --end_fsync=1 - {job}", name="b.sh")
    assert _found(f"fio --filename=/dev/sdq - {job}", "destroys-data")
    assert not _found(f"fio --readonly --filename=/dev/sdq - {job}", "destroys-data")


def test_a_job_file_that_is_not_part_of_the_script() -> None:
    (found,) = _found("cd /srv\nfio jobs/a.fio --output=x\n", "no-job")
    assert (found.line, found.severity, found.fix) == (2, "note", "poolproof lint jobs/a.fio")
    (found,) = _found("fio $DIR/a.fio --output=x\n", "no-job")
    assert "$DIR/a.fio" in found.message and not _found("fio $DIR/a.fio\n", "unknown-variable")
    assert not _found("parallel fio --name={} --filename={} --rw=read ::: a b\n", "no-job")
    assert not _found(f"cat > a.fio <<EOF\n{_READS}EOF\nfio a.fio\n", "no-job")


def test_loops_in_a_script_for_another_shell() -> None:
    loop = "for qd in 1 32; do fio --name=r --rw=randread --size=1g --direct=1 --ioengine=sync --iodepth={}; done"
    for script in (
        f"ssh h <<'EOF'\n{loop.format('$qd')}\nEOF\n",
        f"ssh h <<EOF\n{loop.format(chr(92) + '$qd')}\nEOF\n",
    ):
        found = [each for each in lint(source(script, "x.sh")) if each.rule == "iodepth-with-sync-engine"]
        assert [each.line for each in found] == [2]
        assert "with qd=32" in found[0].message


@pytest.mark.parametrize(
    ("opening", "before", "is_misread"),
    [("<<'EOF'", "", True), ("<<EOF", "", False), ("<<'EOF'", "sed -i s/x/y/ j.fio; ", False)],
)
def test_a_variable_that_nothing_replaces(opening: str, before: str, is_misread: bool) -> None:
    text = f"cat > j.fio {opening}\n[a]\nrw=read\nsize=1g\nbs=1m\ndirect=1\niodepth=$DEPTH\nEOF\n{before}fio j.fio\n"
    found = {(line, rule) for line, _, rule in said(text, name="b.sh")}
    assert ((7, "misread-by-fio") in found) == is_misread
    assert ((7, "unknown-variable") in found) == (not is_misread)


_SECTION = "ioengine=psync\niodepth=8\nrw=randread\nbs=4k\nsize=9g\n"


def test_a_section_that_a_later_here_document_adds() -> None:
    text = (
        f"cat > job.fio <<EOF\n[global]\n{_SECTION}EOF\nlsblk -dno NAME | while read -r disk; do\n"
        "cat >> job.fio <<EOF\n[job-$disk]\nfilename=/mnt/$disk/f\nEOF\ndone\nfio job.fio\n"
    )
    assert rules(text, name="bench.sh") == {"iodepth-with-sync-engine", "unknown-variable"}
    assert "refused-by-fio" in rules(text.replace("[job-$disk]", "#"), name="bench.sh")


def test_a_job_file_that_several_commands_write() -> None:
    lines = ["[global]", *_SECTION.split(), "[a]", "filename=/mnt/f"]
    text = "".join(f'echo "{line}" {">>" if at else ">"} job.fio\n' for at, line in enumerate(lines))
    assert said(f"{text}fio job.fio\n", name="bench.sh") == [(3, "warning", "iodepth-with-sync-engine")]
    assert rules(text.replace("iodepth=8", "iodepth=1") + "fio job.fio\n", name="bench.sh") == set()
    again = text + text.replace("iodepth=8", "iodepth=1")
    assert said(again, name="bench.sh") == [(3, "warning", "iodepth-with-sync-engine")]


def test_a_here_document_whose_end_is_indented() -> None:
    lines = "".join(f"> {line}\n" for line in ("[a]", *_SECTION.split(), "EOF"))
    text = f"root@host:/# sudo cat > a.job << EOF\n{lines}"
    found = rules(f"It needs a job:\n\n```\n{text}root@host:/# cat a.job\n```\n", name="issue.md")
    assert found == {"iodepth-with-sync-engine"}


def test_a_function_that_writes_the_job_file() -> None:
    text = f"make() {{\ncat > job-$1.fio <<EOF\n[a]\n{_SECTION}EOF\n}}\nmake one\nfio job-one.fio\n"
    assert rules(text, name="bench.sh") == {"iodepth-with-sync-engine"}


def test_how_to_lint_a_job_file_that_is_not_shown() -> None:
    (found,) = lint(source("fio /jobs/*.fio\n", name="bench.sh"))
    assert found.fix == "poolproof lint /jobs/*.fio"
    (found,) = lint(source("fio 'a b.fio'\n", name="bench.sh"))
    assert found.fix == "poolproof lint 'a b.fio'"
    (found,) = [each for each in lint(source("fio run-$$.fio\n", name="bench.sh")) if each.rule == "no-job"]
    assert found.fix == "lint the job file itself: poolproof lint JOBFILE"
