"""One fio run in the forms in which people post it, with margins, symbols and line breaks from other programs."""

import html
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.texts import audit_text

POST = (Path(__file__).parent / "posts" / "two-groups.txt").read_text(encoding="utf-8")
LINES = POST.splitlines()
FIGURES = "read: IOPS=30.1k, BW=118MiB/s (123MB/s)(7054MiB/60001msec)"
COMMAND = "fio --name=a --rw=randread --size=10g --runtime=60 --time_based"


def _told(text: str) -> list[tuple[object, ...]]:
    return [
        (each.verdict, each.job, each.command, each.figures, [finding.rule for finding in each.findings])
        for each in audit_text("post", text, Context())
    ]


def _each_line(change: Callable[[int, str], str]) -> str:
    return "\n".join(change(number, line) for number, line in enumerate(LINES, start=1)) + "\n"


def _escaped(line: str) -> str:
    return line.replace("\\", "\\\\").replace('"', '\\"')


def _literal(line: str) -> str:
    return f'"{_escaped(line)}\\n"'


def _broken(width: int) -> str:
    parts = [line[at : at + width] for line in LINES for at in range(0, max(len(line), 1), width)]
    return "\n".join(parts) + "\n"


FORMS = {
    "line numbers": _each_line(lambda number, line: f"{number:4d}  {line}"),
    "numbers and bars": _each_line(lambda number, line: f"{number:3d} | {line}"),
    "numbers and tabs": _each_line(lambda number, line: f"{number:6d}\t{line}"),
    "an ordered list": _each_line(lambda number, line: f"{number}. {line}"),
    "a quotation": _each_line(lambda _, line: f"> > {line}"),
    "a name": _each_line(lambda _, line: f"John> {line}"),
    "bars": _each_line(lambda _, line: f"| {line}"),
    "comments": _each_line(lambda _, line: f"# {line}".rstrip()),
    "comments of C": _each_line(lambda _, line: f"// {line}"),
    "a difference": _each_line(lambda _, line: f"+{line}"),
    "the journal": _each_line(lambda number, line: f"Nov 20 12:00:{number % 60:02d} nas fio[1234]: {line}"),
    "a build": _each_line(lambda number, line: f"2024-03-02T12:00:{number % 60:02d}.1234567Z {line}"),
    "time stamps": _each_line(lambda number, line: f"[2024-03-02 12:00:{number % 60:02d}] {line}"),
    "a test's log": _each_line(lambda number, line: f"20:22:{number % 60:02d} DEBUG| [stdout] {line}"),
    "Python's log": _each_line(lambda number, line: f"2024-05-01 20:22:{number % 60:02d},123 INFO {line}"),
    "a logger": _each_line(lambda number, line: f"20:22:{number % 60:02d} - MainThread - fio_run - INFO - {line}"),
    "the journal with the time zone": _each_line(
        lambda number, line: f"2024-03-02T12:00:{number % 60:02d}+0100 nas fio[1234]: {line}"
    ),
    "a job of GitLab": _each_line(lambda number, line: f"2024-03-02T12:00:{number % 60:02d}.123456Z 01O {line}"),
    "a Docker build": _each_line(lambda number, line: f"#12 {number}.456 {line}"),
    "the kernel's log": _each_line(lambda number, line: f"[  412.{number:06d}] {line}"),
    "a pod's log": _each_line(lambda _, line: f"disk-test-x7k2p disk-test {line}"),
    "a pod's log with time stamps": _each_line(
        lambda number, line: f"[pod/disk-test-x7k2p/fio] 2024-03-02T12:00:{number % 60:02d}.1Z {line}"
    ),
    "a container's log": _each_line(lambda _, line: f"2024-03-02T12:00:01.1234567Z stdout F {line}"),
    "pods": _each_line(lambda _, line: f"[pod/fio-x7k2p/fio] {line}"),
    "Ansible": _each_line(lambda _, line: f"        {json.dumps(line)},"),
    "containers": _each_line(lambda _, line: f"fio_1  | {line}"),
    "tabs": _each_line(lambda _, line: line.replace("    ", "\t")),
    "one blank": _each_line(lambda _, line: " ".join(line.split())),
    "empty lines": _each_line(lambda _, line: f"{line}\n"),
    "hard blanks": POST.replace("  ", "\xa0 "),
    "80 columns": _broken(80),
    "HTML": f"<pre><code>{html.escape(POST)}</code></pre>",
    "HTML with breaks": f"<div>{html.escape(POST).replace(chr(10), '<br>')}</div>",
    "BBCode": f'[SPOILER="fio"]\n[CODE]{POST}[/CODE]\n[/SPOILER]',
    "bold": _each_line(lambda _, line: f"**{line}**" if "IOPS=" in line else line),
    "bold in BBCode": _each_line(lambda _, line: f"[B]{line}[/B]" if "IOPS=" in line else line),
    "long dashes": POST.replace("--", "—"),
    "curly quotes": f"“look”\n{POST.replace('--', '–')}",
    "a string": json.dumps({"body": POST}),
    "a literal of C": "static const char out[] =\n" + _each_line(lambda _, line: f"    {_literal(line)}") + "    ;\n",
    "a literal of C after a name": "const char *out = " + _each_line(lambda _, line: _literal(line)).rstrip() + ";\n",
    "a literal of Go": "\tout := " + _each_line(lambda _, line: f"\t\t{_literal(line)} +") + '\t\t""\n',
    "a literal of Python": "OUT = (\n" + _each_line(lambda _, line: f"    {_literal(line)}") + ")\n",
    "a list of Python": "OUT = [\n" + _each_line(lambda _, line: f"    {line!r},") + "]\n",
    "a bytes object": f"stdout={POST.encode()!r}\n",
    "a literal of Rust": 'let out = "\\\n' + _each_line(lambda _, line: f"{_escaped(line)}\\n\\") + '";\n',
    "a raw literal of Rust": f'let out = r#"{POST}"#;\n',
    "a raw literal of Python": f'OUT = """\\\n{POST}"""\n',
    "Windows": POST.replace("$ fio", "PS C:\\Users\\me> fio.exe").replace("\n", "\r\n"),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_run_is_the_same_in_every_form(form: str) -> None:
    assert _told(FORMS[form]) == _told(POST)


def test_stamps_before_words_with_a_colon_are_not_those_of_the_journal() -> None:
    text = (
        "2024-03-02T12:00:01.1Z CPU BOGOMIPS:      11616.00\n2024-03-02T12:00:01.1Z BUFFERED READS:    83.86 MB/sec\n"
    )
    assert [each.figures.directions["read"].bandwidth_bytes for each in audit_text("post", text, Context())] == [
        83.86 * 1024**2
    ]


def test_two_words_are_a_margin_only_if_they_name_a_pod() -> None:
    assert _told(_each_line(lambda _, line: f"disk-test-alpha disk-test {line}")) != _told(POST)


def test_text_around_a_margin_is_unchanged() -> None:
    before = "1 first\n2 second\n\n"
    assert _told(before + FORMS["comments"]) == _told(POST)


@pytest.mark.parametrize(
    "text",
    [f"I get `{FIGURES}` with `{COMMAND}`.\n", f"- randread: `{FIGURES}`\n", f"So I got {FIGURES}, which is slow.\n"],
)
def test_values_inside_a_sentence_are_found(text: str) -> None:
    (audited,) = audit_text("post", text, Context())
    assert audited.figures.directions["read"].iops == 30_100
    assert audited.line == 1
    assert audited.command == (COMMAND if COMMAND in text else None)


@pytest.mark.parametrize(
    "text",
    [
        "rsync: sent 1,073,741,824 bytes  received 35 bytes  87,000,000.00 bytes/sec\n",
        "     kB  reclen    write  rewrite    read    reread\nMax Write: 2345.67 MiB/sec (2459.61 MB/sec)\n",
    ],
)
def test_values_of_other_programs_are_ignored(text: str) -> None:
    assert audit_text("post", text, Context()) == ()


def test_two_runs_of_the_same_jobs_with_words_between_them_are_two_results() -> None:
    run = (
        "4kR: (groupid=0, jobs=1): err= 0: pid=101: Mon May  2 10:{minute}:10 2016\n"
        "  read : io=600000KB, bw=2000.0KB/s, iops={iops}, runt=300000msec\n"
        "4kW: (groupid=0, jobs=1): err= 0: pid=102: Mon May  2 10:{minute}:10 2016\n"
        "  write: io=900000KB, bw=3000.0KB/s, iops=750, runt=300000msec\n"
    )
    text = f"sync=standard\n{run.format(minute='05', iops=500)}\nsync=always\n{run.format(minute=16, iops=501)}"
    found = audit_text("post", text, Context())
    assert [each.figures.directions["read"].iops for each in found] == [500, 501]
    clones = audit_text("post", run.format(minute="05", iops=500) * 2, Context())
    assert [each.figures.directions["read"].iops for each in clones] == [1000]


def test_a_quotation_of_one_of_two_jobs_does_not_show_that_bytes_are_missing() -> None:
    text = (
        "fio --directory=/data --rw=randread --size=64m --direct=1 --name=a --name=b\n"
        "a: (groupid=0, jobs=1): err= 0: pid=15: Wed Jun 30 22:19:46 2021\n"
        "  read: IOPS=64, BW=256KiB/s (262kB/s)(64.0MiB/256000msec)\n"
    )
    (found,) = audit_text("post", text, Context())
    assert "work-done" not in {finding.rule for finding in found.findings}
    (short,) = audit_text("post", text.replace(" --name=b", "").replace("64.0MiB/", "32.0MiB/"), Context())
    assert "work-done" in {finding.rule for finding in short.findings}


def test_json_without_its_start_is_read() -> None:
    direction = '"io_bytes" : 409600000, "bw" : 40000, "iops" : {}, "runtime" : 10000, "total_ios" : 100000'
    empty = '"io_bytes" : 0, "bw" : 0, "iops" : 0.0, "runtime" : 0, "total_ios" : 0'
    job = (
        '    {{\n      "jobname" : "{}",\n      "groupid" : 0,\n      "error" : 0,\n'
        f'      "read" : {{{{\n        {direction}\n      }}}},\n'
        f'      "write" : {{{{\n        {empty}\n      }}}}\n    }}}}'
    )
    text = (
        f'        "0.00" : 0\n      }}\n    }},\n{job.format("one", 10000.5)},\n{job.format("two", 9999.5)}\n  ]\n}}\n'
    )
    (found,) = audit_text("post", text, Context())
    assert found.job == "one, two"
    assert found.figures.directions["read"].iops == 20000
