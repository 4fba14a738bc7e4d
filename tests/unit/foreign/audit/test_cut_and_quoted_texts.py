"""Output that a text cuts off, glues together, or quotes in source code, mail, tables and sentences."""

import json
import pprint
import quopri
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text
from poolproof.presentation.terminal.audited import figures_text
from tests.golden import Message

KIB, MIB = 1024, 1024**2
CAPTURED = Path(__file__).parents[2] / "load" / "fio" / "captured"
Value = tuple[str, Any, Any]


def _values(text: str) -> list[Value]:
    """Return direction, IOPS and bandwidth of every result in the text."""
    return [
        (name, moved.iops, moved.bandwidth_bytes)
        for each in audit_text("post", text, Context())
        for name, moved in each.figures.directions.items()
    ]


def _one(text: str) -> Audited:
    (audited,) = audit_text("post", text, Context())
    return audited


_READ = (
    "700416;364610;91152;1921;3;110;9.283027;2.078678;2;1234;159.304360;28.925367;1.000000%=23;5.000000%=112;"
    + "50.000000%=160;" * 18
    + "10;1243;168.587388;28.998837;0;0;0.000000%;0.000000;0.000000;"
)
_WRITE = (
    "700416;191789;47951;3652;4;5023;17.928978;27.794189;1;5446;303.143928;124.069601;1.000000%=59;5.000000%=124;"
    + "50.000000%=301;" * 18
    + "17;5452;321.055559;125.717726;110376;133120;65.710471%;126025.454545;6491.718607;"
)
_REST = "5.1%;20.2%;1156;0;37;100.0%;0.0%;0.0%;0.0%;0.0%;0.0%;0.0%;" + ";".join(["0.00%"] * 22)
TERSE = f"3;fio-3.36;verify;0;0;{_READ}{_WRITE}{_REST};sda;1;2;0;0;0;0;0;9.50%"
TERSE_VALUES = [("read", 91152.0, 364610.0 * KIB), ("write", 47951.0, 191789.0 * KIB)]


def _pieces(line: str, width: int) -> list[str]:
    return [line[at : at + width] for at in range(0, len(line), width)]


TERSE_FORMS = {
    "quoted-printable": quopri.encodestring(TERSE.encode()).decode() + "\n",
    "quoted-printable in a quotation": quopri.encodestring(f"> {TERSE}".encode()).decode() + "\n",
    "a quotation of quoted-printable": "".join(
        f"> {line}\n" for line in quopri.encodestring(TERSE.encode()).decode().split("\n")
    ),
    "wrapped": "\n".join(_pieces(TERSE, 80)) + "\n",
    "wrapped in a quotation": "".join(f"> {piece}\n" for piece in _pieces(TERSE, 70)),
    "Rust": f'    const LINE: &str = "{TERSE}";\n',
    "Rust with a line break": f'    let line = parse("{TERSE}\\n").unwrap();\n',
    "Rust over several lines": '    let line = "' + "\\\n        ".join(_pieces(TERSE, 90)) + '";\n',
    "Python": f"TERSE = '{TERSE}'\n",
    "Python, concatenated": "TERSE = (\n" + "".join(f'    "{piece}"\n' for piece in _pieces(TERSE, 90)) + ")\n",
    "Python, three quotes": f'TERSE = """{TERSE}\n"""\n',
    "Python, continued": "TERSE = " + " \\\n        ".join(f'"{piece}"' for piece in _pieces(TERSE, 90)) + "\n",
    "Go": "\tline := " + " +\n\t\t".join(f'"{piece}"' for piece in _pieces(TERSE, 90)) + "\n",
    "Go, raw": f"\tline := `{TERSE}`\n",
    "C": "static const char *line =\n" + "".join(f'\t"{piece}"\n' for piece in _pieces(TERSE, 60)) + "\t;\n",
    "JSON": json.dumps({"stdout": f"{TERSE}\n"}) + "\n",
    "a shell's echo": f"echo '{TERSE}' >> terse.csv\n",
    "code in a sentence": f"With the new kernel I get `{TERSE}`, which is slower.\n",
    "a comment": f"// {TERSE}\n",
    "a list": f"- {TERSE}\n",
    "a cell": f"| ext4 | {TERSE} |\n",
}  # fmt: skip


@pytest.mark.parametrize("form", TERSE_FORMS)
def test_a_terse_line_is_read_in_each_form(form: str) -> None:
    assert _values(TERSE_FORMS[form]) == TERSE_VALUES
    assert not any("cut off" in gap for gap in _one(TERSE_FORMS[form]).missing)


def test_a_terse_line_that_is_cut_off_has_the_values_before_the_cut(message: Message) -> None:
    lengths = range(60, len(TERSE))
    found = {length: _values(TERSE[:length]) for length in lengths}
    assert all(values in ([], TERSE_VALUES[:1], TERSE_VALUES) for values in found.values())
    assert found[200] == TERSE_VALUES[:1] and found[len(TERSE) - 200] == TERSE_VALUES
    assert found[len(f"3;fio-3.36;verify;0;0;{_READ}") + 40] == TERSE_VALUES
    assert any("cut off" in message(gap) for gap in _one(TERSE[:200]).missing)


def _escaped(line: str) -> str:
    return line.replace("\\", "\\\\").replace('"', '\\"')


JSON_FORMS: dict[str, Callable[[list[str]], str]] = {
    "C": lambda lines: "const char out[] =\n" + "".join(f'"{_escaped(line)}\\n"\n' for line in lines) + ";\n",
    "Go": lambda lines: "out := " + " +\n\t".join(f'"{_escaped(line)}\\n"' for line in lines) + "\n",
    "Rust": lambda lines: 'let out = "' + "\\n\\\n".join(map(_escaped, lines)) + '";\n',
    "Rust without line breaks": lambda lines: 'let out = "' + " \\\n".join(map(_escaped, lines)) + '";\n',
    "Rust, raw": lambda lines: 'let out = r#"' + "\n".join(lines) + '"#;\n',
    "Python": lambda lines: "OUT = (\n" + "".join(f"    {line + chr(10)!r}\n" for line in lines) + ")\n",
    "a list": lambda lines: "[\n" + ",\n".join(json.dumps(line) for line in lines) + "\n]\n",
    "the representation of Python": lambda lines: f"{json.loads(chr(10).join(lines))}\n",
    "several lines of Python": lambda lines: pprint.pformat(json.loads(chr(10).join(lines))) + "\n",
    "one line": lambda lines: f"OUT = {json.dumps(chr(10).join(lines))}\n",
}


@pytest.mark.parametrize("form", JSON_FORMS)
def test_json_is_read_in_each_literal(form: str) -> None:
    document = (CAPTURED / "3.33-etcd.json").read_text()
    assert _values(JSON_FORMS[form](document.splitlines())) == _values(document)


@pytest.mark.parametrize("form", [repr, json.dumps])
def test_a_document_on_long_lines_without_its_start_and_end(form: Callable[[object], str]) -> None:
    write = {"io_bytes": 3588218880, "bw_bytes": 58902440, "iops": 7190.239338, "runtime": 60918, "total_ios": 438015}
    values = form(
        {"bw_dev": 175846.5, "write": {**write, "clat_ns": {"min": 5191, "mean": 86521.78}}, "trim": {"iops": 0}}
    )
    wrapped = values.replace("5191, ", "5191,\n ")  # a chat program splits long lines
    if form is repr:
        wrapped = wrapped.replace("'run", "'r\nun")  # and a log splits them anywhere
    assert _values(f"{wrapped[1:-2]}, {form('short_ios')}: 0, {form('run')[:3]}\n") == [
        ("write", 7190.239338, 58902440.0)
    ]


@pytest.mark.parametrize("form", [repr, json.dumps])
@pytest.mark.parametrize("length", [190, 200, 220])
def test_a_document_on_one_line_is_cut_off_anywhere(form: Callable[[object], str], length: int) -> None:
    write = {"io_bytes": 3588218880, "bw_bytes": 58902440, "iops": 7190.239338, "runtime": 60918, "total_ios": 438015}
    values = form({"write": {**write, "clat_ns": {"min": 5191, "mean": 86521.787, "stddev": 11899535.577431}}})

    assert _values(f"{values[:length]}\n") == [("write", 7190.239338, 58902440.0)]


ASTER = """\
|          | Aster RamFs | Linux Ext2 |
| :-----| :---- | :---- |
| seq-write | IOPS=162k, BW=633MiB/s | IOPS=727k, BW=2838MiB/s |
| rand-read | IOPS=121k, BW=474MiB/s | | 
"""  # noqa: W291  # a row of the posted table ends with a space


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (
            ASTER,
            [
                ("write", 162e3, 633.0 * MIB),
                ("write", 727e3, 2838.0 * MIB),
                ("read", 121e3, 474.0 * MIB),
            ],
        ),
        (
            "| fs | randread | randwrite |\n|---|---|---|\n| xfs | IOPS=52.1k, BW=203MiB/s (213MB/s) "
            "| BW=101MiB/s (106MB/s), IOPS=25.9k |\n",
            [("read", 52.1e3, 203.0 * MIB), ("write", 25.9e3, 101.0 * MIB)],
        ),
        (
            "| fs | result |\n|---|---|\n| xfs | `read: IOPS=52.1k, BW=203MiB/s (213MB/s)` |\n"
            "| ext4 | write: IOPS=1000, BW=4000KiB/s (4096kB/s)(234MiB/60001msec) |\n",
            [("read", 52.1e3, 213e6), ("write", 1000.0, 4096e3)],
        ),
        (
            "| fs | randread 4k | randwrite 4k |\n|---|---|---|\n"
            "| ext4 | 52.1k IOPS, 203 MiB/s | 39.8 MiB/s (10,200 IOPS) |\n",
            [("read", 52.1e3, 203.0 * MIB), ("write", 10200.0, 39.8 * MIB)],
        ),
        ("On ext4 I get `read: IOPS=52.1k, BW=203MiB/s`.\n", [("read", 52.1e3, 203.0 * MIB)]),
        ("- ext4: **write: IOPS=52.1k, BW=203MiB/s (213MB/s)**\n", [("write", 52.1e3, 213e6)]),
        ("> ext4: \"read: IOPS=52.1k\", xfs was slower\n", [("read", 52.1e3, None)]),
        ("1. 4k, 16 threads, random reads: IOPS=52.1k, BW=203MiB/s\n", [("read", 52.1e3, 203.0 * MIB)]),
        (
            "randread IOPS=52.1k, BW=203MiB/s and randwrite IOPS=10k, BW=39.1MiB/s\n",
            [("read", 52.1e3, 203.0 * MIB), ("write", 10e3, 39.1 * MIB)],
        ),
        ("## Random write, 4k\n\n- ext4: IOPS=52.1k, BW=203MiB/s\n", [("write", 52.1e3, 203.0 * MIB)]),
        ("With 4 threads: IOPS=52.1k, BW=203MiB/s\n", []),
        ("cache=writeback: IOPS=52.1k, BW=203MiB/s\n", []),
        (
            "So we got write: io=352204KB, bw=5869.9KB/s, iops=1467 on it\n",
            [("write", 1467.0, 5869.9 * KIB)],
        ),
        ("| ext4 | WRITE: bw=799MiB/s (838MB/s) |\n", [("write", None, 838e6)]),
        (
            "  read: IOPS=22.0k <<<<<, BW=86.0MiB/s (90.2MB/s)(6141MiB/71368msec)\n"
            "  bw (  KiB/s): min=35325, max=126331, per=99.96%, avg=88079.67, stdev=23662.89, samples=141\n"
            "  write: IOPS=7356 <--, BW=28.7MiB/s *** (30.1MB/s)(2051MiB/71368msec)\n",
            [("read", 22e3, 90.2e6), ("write", 7356.0, 30.1e6)],
        ),
        (
            "> WRITE: io=404KB, aggrb=20KB/s, minb=20KB/s, maxb=20KB/s,\n> mint=20001msec, maxt=20001msec\n",
            [("write", None, 20.0 * KIB)],
        ),
        (
            "  READ: io=32768MB, aggrb=272129KB/s, minb=272129KB/s,\n"
            "maxb=272129KB/s, mint=123303msec, maxt=123303msec\n",
            [("read", None, 272129.0 * KIB)],
        ),
        (
            "<table><tr><td>seq-write</td><td>IOPS=162k, BW=633MiB/s</td><td>IOPS=727k, BW=2838MiB/s</td></tr>\n",
            [("write", 162e3, 633.0 * MIB), ("write", 727e3, 2838.0 * MIB)],
        ),
        (
            "| Test | Bandwidth | IOPS | Avg Latency |\n|---|---|---|---|\n"
            "| Sequential Write (1 MiB, 1 job) | 317 MiB/s (333 MB/s) | 317 | 3.15 ms |\n"
            "| Mixed R/W | R: 693 / W: 300 MiB/s | R: 2,770 / W: 1,198 | ~15.8 ms |\n"
            "| Random Read (4 KiB) | 84.0 MiB/s | 21,500 | 5.95 ms |\n",
            [("write", 317.0, 317.0 * MIB), ("read", 21500.0, 84.0 * MIB)],
        ),
        (
            "| Storage SEQ1M Q8T1 | Read 4706.07 MB/s / Write 4451.08 MB/s |\n"
            "| Storage SEQ1M Q8T1 IOPS | Read 4488.06 / Write 4244.88 |\n",
            [("read", pytest.approx(4488, rel=1e-3), 4706.07e6), ("write", pytest.approx(4245, rel=1e-3), 4451.08e6)],
        ),
        (
            "| iozone 4K random read | 56.09 MB/s |\n| iozone 1M sequential write | 745.94 MB/s |\n",
            [("read", pytest.approx(13693.8, rel=1e-3), 56.09e6), ("write", pytest.approx(711.4, rel=1e-3), 745.94e6)],
        ),
    ],
)  # fmt: skip
def test_values_in_cells_and_sentences(text: str, values: list[Value]) -> None:
    assert _values(text) == [(name, iops, rate and pytest.approx(rate)) for name, iops, rate in values]


WRITE = "write: io=352204KB, bw=5869.9KB/s, iops=1467, runt= 60002msec\n"
TOTAL = "WRITE: io={}KB, aggrb={}KB/s, minb=5869KB/s, maxb=5869KB/s, mint=60002msec, maxt=60002msec\n"


def test_a_total_without_its_heading_is_the_sum_of_the_jobs_above() -> None:
    assert _values(WRITE + TOTAL.format(352204, 5869)) == [("write", 1467.0, pytest.approx(5869.9 * KIB, rel=1e-3))]
    assert len(_values(WRITE + WRITE + TOTAL.format(2 * 352204, 2 * 5869))) == 2
    named = "a: (groupid=0, jobs=1): err= 0: pid=1: Sat\n" + WRITE
    twice = named + named.replace("pid=1", "pid=2") + TOTAL.format(2 * 352204, 2 * 5869)
    assert _values(twice) == [("write", 2934.0, pytest.approx(2 * 5869 * KIB, rel=1e-3))]


def test_a_total_of_another_run_is_a_result() -> None:
    assert len(_values(WRITE + TOTAL.format(99204, 1653))) == 2
    read = "a: (groupid=0, jobs=1): err= 0: pid=1: Sat\n  read : io=1000MB, bw=17067KB/s, iops=4266, runt= 60002msec\n"
    head = "Run status group 0 (all jobs):\n"
    for between in ("", head):
        found = _values(f"{read}...\n{between}{TOTAL.format(352204, 5869)}")
        assert [name for name, *_ in found] == ["read", "write"]
        assert found[1][2] == pytest.approx(5869 * KIB)


RUN = f"a: (groupid=0, jobs=1): err= 0: pid=1: Sat\n  {WRITE}  clat (usec): min=2, max=103, avg= 7.96, stdev= 4.51\n"
TAIL = "bw (KB  /s): min= 3408, max=17048, per=99.27%, avg=4972.41, stdev=1761.31\nRun status group 0 (all jobs):\n"
READ = TOTAL.replace("WRITE", "READ")
WORDS = "\n## Read benchmark\n./run.sh read\nint mode: 12.3GB/s\n"


@pytest.mark.parametrize(
    ("text", "results"),
    [
        (f"So this is the rate:\n\n{WRITE}\nof this run:\n\n{RUN}", [["write"]]),
        (f"{TAIL}{TOTAL.format(352204, 5869)}\nThe line with the IOPS was:\n\n{WRITE}", [["write"]]),
        (f"{RUN}\nand later\n\n{WRITE.replace('60002', '60003')}", [["write"], ["write"]]),
        (f"{TAIL}{READ.format(1, 2)}{TOTAL.format(3, 4)}", [["read", "write"]]),
        (f"{TOTAL.format(3, 4)}{READ.format(1, 2)}", [["read", "write"]]),
        (f"{TOTAL.format(3, 4)}{WORDS}{READ.format(1, 2)}", [["write"], ["read"]]),
    ],
)  # fmt: skip
def test_each_run_is_one_result_with_its_directions(text: str, results: list[list[str]]) -> None:
    found = audit_text("post", text, Context())

    assert [sorted(each.figures.directions) for each in found] == results
    if WRITE in text:
        assert found[0].figures.directions["write"].iops == 1467.0


def test_a_tail_with_nothing_but_samples_has_their_mean() -> None:
    found = _one("   iops        : min=   24, max=  370, avg=197.00, stdev=244.66, samples=2\n")

    assert figures_text(found.figures).startswith("197 IOPS, ")


def test_a_rate_line_that_is_cut_off_after_its_iops() -> None:
    block = "a: (groupid=0, jobs=1): err= 0: pid=1: Sat\n  read: IOPS=790, BW=6323KiB/s (6475kB/s)(371MiB/60003msec)\n"
    for end in ("write: IOPS=338\n...\n", "write: IOPS=338 ...\n", "write: IOPS=338 [...]\n", "write: IOPS=338\n\n"):
        assert _values(f"{block}  {end}") == [("read", 790.0, 6475e3), ("write", 338.0, None)]
    assert _values(f"{block}  write: IOPS=33") == [("read", 790.0, 6475e3)]
    assert _values(f"{block}  write: IOPS=33\n8, BW=2\n") == [("read", 790.0, 6475e3)]


DD = "$ dd if=/dev/zero bs=8k count=1000000 of=/data/x\n1000000+0 records in\n1000000+0 records out\n"


@pytest.mark.parametrize(
    ("end", "is_read"),
    [
        ("8192000000 bytes (8.2 GB, 7.6 GiB) copied, 10.7331 s, 763 MB", True),
        ("8192000000 bytes (8.2 GB, 7.6 GiB) copied, 10.7331 s, 7", True),
        ("8192000000 bytes (8.2 GB, 7.6 GiB) copied, 10.7331 s,\n763 MB/s\n", True),
        ("8192000000 bytes (8,2 GB, 7,6 GiB) kopiert, 10,7331 s", True),
        ("8192000000 bytes (8.2 GB, 7.6 GiB) copied, 10.7", False),
        ("8192000000 bytes transferred in 10.7331 secs (76324", True),
        ("8192000000 bytes transferred in 10.7", False),
    ],
)
def test_a_line_of_dd_that_is_cut_off(end: str, *, is_read: bool) -> None:
    expected = [("write", None, pytest.approx(8192e6 / 10.7331))] if is_read else []
    assert _values(DD + end) == expected


def test_only_the_last_line_that_dd_printed_while_it_was_running_is_a_result() -> None:
    progress = "".join(f"{second * 10**8} bytes (x MB) copied, {second} s, 100 MB/s\n" for second in (1, 2, 3))
    end = "3+0 records in\n3+0 records out\n400000000 bytes (400 MB) copied, 4.1 s, 97.6 MB/s\n"
    assert len(_values(progress)) == len(_values(progress + end)) == len(_values(progress.replace("\n", "\r"))) == 1
    loop = "100000000 bytes (x MB) copied, 1 s, 100 MB/s\n100000000 bytes (x MB) copied, 1.1 s, 90.9 MB/s\n"
    assert len(_values(loop)) == 2


def test_dd_in_a_sentence_in_a_cell_and_without_its_first_words() -> None:
    line = "1073741824 bytes (1.1 GB) copied, 4.5 s, 239 MB/s"
    for text in (f"dd says {line}, which is slow.\n", f"| nfs | {line} |\n", "B, 1.0 GiB) copied, 4.5 s, 239 MB/s\n"):
        ((name, _, rate),) = _values(text)
        assert (name, rate) == ("mixed", pytest.approx(1073741824 / 4.5, rel=3e-3))


def test_output_of_dd_without_its_line_breaks() -> None:
    text = (
        "## sync# dd if=/dev/zero bs=16384 count=131072 of=/data/tmp131072+0 records in131072+0 records out"
        "2147483648 bytes (2.1 GB) copied, 40.7823 s, 52.7 MB/s## sync# dd if=/data/tmp of=/dev/null bs=16384"
        "131072+0 records in131072+0 records out2147483648 bytes (2.1 GB) copied, 25.5 s, 84.2 MB/s#\n"
    )
    found = audit_text("post", text, Context())
    assert [next(iter(each.figures.directions)) for each in found] == ["write", "read"]
    assert found[0].command == "dd if=/dev/zero bs=16384 count=131072 of=/data/tmp"


BONNIE = """\
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
"""
BONNIE_ROW = "2.6.16.19       16G 38621  98 194816  94 87776  49 37921  92 239128  54  1402   5"
BONNIE_FAST = "2.6.16.19       16G           194816  94 87776  49           239128  54  1402   5"


@pytest.mark.parametrize("row", [BONNIE_ROW, BONNIE_FAST])
def test_a_row_of_bonnie_that_is_cut_off(row: str) -> None:
    whole = _values(f"{BONNIE}{row}\n")
    assert whole == [
        ("write", None, 194816.0 * KIB), ("write", None, 87776.0 * KIB), ("read", None, 239128.0 * KIB),
        ("read", 1402.0, None),
    ]  # fmt: skip
    for length in range(25, len(row)):
        found = _values(f"{BONNIE}{row[:length]}")
        assert found == whole[: len(found)], row[:length]
    (cut,) = (audited.missing for audited in audit_text("x", f"{BONNIE}{row[:60]}", Context())[:1])
    assert any("cut off" in gap for gap in cut)


def test_a_further_row_of_bonnie_that_is_cut_off() -> None:
    found = _values(f"{BONNIE}{BONNIE_ROW}\n                     47000  99 194276  94 89232  49")
    assert found[4:] == [("write", None, 194276.0 * KIB), ("write", None, 89232.0 * KIB)]


@pytest.mark.parametrize(
    "command",
    [
        "fio -name=test -rw=randread -bs=4k -direct=1 -ioengine=psync -size=10G\n -runtime=60",
        "fio --name=test --rw=randread --bs=4k --direct=1 --ioengine=psync --size=10G\n--runtime=60",
        "fio --name=test --rw=randread --bs=4k --direct=1 \\\n  --ioengine=psync --size=10G \\\n  --runtime=60",
        "fio --name=test --rw=randread --bs=4k --direct=1 ^\n  --ioengine=psync --size=10G --runtime=60",
    ],
)
def test_all_lines_of_a_command_are_read(command: str) -> None:
    result = (
        "test: (groupid=0, jobs=1): err= 0: pid=1: Sat\n  read: IOPS=106, BW=424KiB/s (434kB/s)(24.8MiB/60001msec)\n"
    )
    audited = _one(f"$ {command}\n{result}")
    assert audited.command is not None and audited.command.replace("--", "-").endswith("-size=10G -runtime=60")


SYSBENCH = """\
$ sysbench {}
File operations:
    reads/s:                      6318.74
    writes/s:                     4212.33
"""


@pytest.mark.parametrize("break_", [" ", " \\\n  ", "\n  "])
def test_all_lines_of_a_command_of_sysbench_are_read(break_: str) -> None:
    options = ("--test=fileio", "--num-threads=50", "--file-total-size=2G", "--file-test-mode=rndrw run")
    audited = _one(SYSBENCH.format(break_.join(options)))
    assert audited.command == f"sysbench {' '.join(options)}"
    assert audited.job == "sysbench fileio: random r/w"


def test_lines_of_markdown_that_end_with_a_backslash_are_not_joined() -> None:
    text = DD.replace("\n", "\\\n") + "8192000000 bytes (8.2 GB, 7.6 GiB) copied, 10.7331 s, 763 MB/s\\\n"
    assert _values(text) == [("write", None, pytest.approx(8192e6 / 10.7331))]


ELBENCHO = """\
$ elbencho {} -w --direct -b 1m -s 16g -t 96 {}
OPERATION   RESULT TYPE         FIRST DONE   LAST DONE
=========== ================    ==========   =========
WRITE       Elapsed time     :    2m3.241s    2m5.755s
            IOPS             :       33395       33352
            Throughput MiB/s :       33395       33352
            Total MiB        :     4115703     4194304
"""


@pytest.mark.parametrize(
    ("paths", "is_complete"),
    [
        ('"/mnt/storage/file[1-256]"', True),
        ("/mnt/storage/file{1..256}", True),
        ("/mnt/storage/d[1,3,5,7]/file{a,b,c,d}[1-16]", True),
        ("/mnt/storage/file[1-100,201-356]", True),
        ('"/mnt/storage/file[1-16]"', False),
    ],
)
def test_the_files_of_elbencho_are_counted(paths: str, *, is_complete: bool) -> None:
    audited = _one(ELBENCHO.format("--hosts 192.168.0.[1,3,5]", paths))
    rules = {finding.rule for finding in audited.findings}
    assert ("unique-extents" not in rules) == is_complete, audited.findings


def test_the_files_of_elbencho_depend_on_its_hosts() -> None:
    options = "--hosts node[1-4],node9 -n 1 -N 1"
    text = ELBENCHO.format(options, "/mnt/dir").replace("-s 16g -t 96", "-s 8g -t 16")
    audited = _one(text.replace("4194304", str(5 * 16 * 8192)))
    assert "unique-extents" not in {finding.rule for finding in audited.findings}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("BUFFERED READS: 787.59 MB/sec\nFSYNCS/SECOND: 142", [("read", None, 787.59 * MIB)]),
        ("BUFFERED READS: 7.59 MB/sec\nFSYNCS/SECOND: 1426.09", [("read", None, 7.59 * MIB), ("write", 1426.09, None)]),
        ("JobName: a\nread:\n  IOPS=525.518616 BW(KiB/s)=2", [("read", 525.518616, None)]),
        (ELBENCHO.format("", "/mnt/f").rpartition("33352\n            Total")[0] + "33", [("write", 33352.0, None)]),
        (
            "CrystalDiskMark 5\n| Test | Read MB/s | Write MB/s |\n| --- | --- | --- |\n| Seq | 321.0 | 11",
            [("read", pytest.approx(306.1, rel=1e-3), 321e6)],
        ),
        (
            "Random       4 KiB (Q= 32, T= 1):    14.712 MB/s [   3678.0 IOP".join(["KDiskMark 3\n[Write]\n", ""]),
            [("write", None, 14.712e6)],
        ),
    ],
    ids=["pveperf", "pveperf with all digits", "kubestr", "elbencho", "a cell", "KDiskMark"],
)  # fmt: skip
def test_a_number_at_the_end_of_a_text_may_lack_digits(text: str, kept: list[Value]) -> None:
    assert _values(text) == [(name, iops, rate and pytest.approx(rate)) for name, iops, rate in kept]


@pytest.mark.parametrize(
    ("iops", "mean_ns", "is_suspect"),
    [(2000, 4731, False), (19000, 4731, False), (21000, 4731, True), (16000, 12400, False), (16000, 12600, True)],
)
def test_writes_of_an_unknown_job_may_be_fast_if_the_rest_of_the_time_may_be_syncs(
    iops: int, mean_ns: int, *, is_suspect: bool
) -> None:
    text = (
        f"mytest: (groupid=0, jobs=1): err= 0: pid=379504: Mon Jul  3 22:30:33 2023\n"
        f"  write: IOPS={iops}, BW={iops * 4}KiB/s ({iops * 4096 / 1e3:.0f}kB/s)({iops * 4}KiB/1000msec)\n"
        "    clat (nsec): min=1051, max=57976, avg=4462.14, stdev=2609.65\n"
        f"     lat (nsec): min=1079, max=58476, avg={mean_ns}.86, stdev=2657.41\n"
        "    clat percentiles (nsec):\n"
        "     |  1.00th=[1158], 20.00th=[1209], 50.00th=[4008], 99.00th=[23168]\n"
    )
    suspects = {finding.rule for finding in _one(text).findings if finding.effect == "suspects"}
    assert ("latency-floor" in suspects) is is_suspect


@pytest.mark.parametrize(
    ("name", "mean_ns", "is_suspect"),
    [("readfiles", 8450, False), ("readfiles", 8430, True), ("random-readers", 8450, True)],
)
def test_reads_of_an_unknown_job_may_be_fast_because_of_readahead_if_a_few_are_slow(
    name: str, mean_ns: int, *, is_suspect: bool
) -> None:
    text = (
        f"{name}: (groupid=0, jobs=1): err= 0: pid=26347: Mon Sep 24 17:03:12 2018\n"
        "   read: IOPS=2979, BW=11.6MiB/s (12.2MB/s)(1906MiB/163778msec)\n"
        "    clat (nsec): min=523, max=2106.2M, avg=8321.06, stdev=6920148.37\n"
        f"     lat (nsec): min=541, max=2106.2M, avg={mean_ns}.06, stdev=6920180.94\n"
        "    clat percentiles (nsec):\n"
        "     |  1.00th=[  700],  20.00th=[  796], 50.00th=[  844], 99.00th=[ 1048]\n"
    )
    suspects = {finding.rule for finding in _one(text).findings if finding.effect == "suspects"}
    assert ("latency-floor" in suspects) is is_suspect


@pytest.mark.parametrize(
    ("rate", "iops"),
    [
        ("read: IOPS=7", None),
        ("read: IOPS=77.2k", None),
        ("read : io=803612KB, bw=2674.6KB/s, iops=6", None),
        ("read: IOPS=7726, BW=", 7726.0),
        ("read : io=803612KB, bw=2674.6KB/s, iops=668, runt", 668.0),
    ],
)
def test_iops_at_the_end_of_a_text_may_have_lost_digits_also_before_a_newline(rate: str, iops: float | None) -> None:
    text = f"job: (groupid=0, jobs=16): err= 0: pid=33249: Sun Aug 30 11:29:53 2020\n  {rate}\n"
    values = [values.iops for each in audit_text("x", text, Context()) for values in each.figures.directions.values()]
    assert values == ([] if iops is None and "bw=" not in rate else [iops])
