"""Results that scripts print at their end, or whose command, header or line breaks are damaged."""

import pytest

from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import Audited
from poolproof.foreign.audit.texts import audit_text
from tests.golden import Message

DONE = "1073741824 bytes (1.1 GB) copied"
TABLE = """\
OPERATION   RESULT TYPE         FIRST DONE   LAST DONE
=========== ================    ==========   =========
WRITE       Elapsed time     :     30.140s     30.196s
            IOPS             :         291         291
            Throughput MiB/s :          36          36
            Total MiB        :        1101        1101
"""


def _results(text: str) -> list[Audited]:
    return list(audit_text("post", text, Context()))


def _figures(found: list[Audited]) -> list[tuple[str, float, float | None]]:
    """Return the direction, the bandwidth in MB/s and the IOPS of each result."""
    return [
        (kind, round((figures.bandwidth_bytes or 0.0) / 1e6, 1), figures.iops)
        for each in found
        for kind, figures in each.figures.directions.items()
    ]


def test_a_label_before_dds_line_tells_which_command_printed_it() -> None:
    script = (
        "res=`dd if=/dev/zero of=./big bs=1M count=1024 2>&1 | grep copied`\n"
        "res=`dd of=/dev/zero if=./big bs=1M 2>&1 | grep copied`\n"
    )
    found = _results(f"{script}write, {DONE}, 243.751 s, 4.4 MB/s\nread, {DONE}, 61.2597 s, 17.5 MB/s\n")
    assert [each.command for each in found] == [
        "dd if=/dev/zero of=./big bs=1M count=1024",
        "dd of=/dev/zero if=./big bs=1M",
    ]
    assert [(kind, rate) for kind, rate, _ in _figures(found)] == [("write", 4.4), ("read", 17.5)]


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        (" скопировано 2147483648 байт (2,1 GB), 4,17328 c, 515 MB/c\n", ("mixed", 514.6, None)),
        (
            "9140817408 bytes (9.1 GB) copied9140815872 bytes (9.1 GB) copied, 12.7428 s, 717 MB/s\n",
            ("mixed", 717.3, None),
        ),
        (
            "--- . (simfs /dev/simfs) ioping statistics ---10 requests completed in 9009.6 ms, 2626 iops, 10.3 mb/s\n",
            ("read", 10.8, 2626.0),
        ),
        ("".join(TABLE.splitlines(keepends=True)[2:]), ("write", 37.7, 291.0)),
    ],
    ids=["verb first", "glued", "one line", "no header"],
)
def test_a_damaged_line_is_read(text: str, figures: tuple[str, float, float | None]) -> None:
    assert _figures(_results(text)) == [figures]


def test_zeros_through_a_pipe_to_nowhere_measure_memory(message: Message) -> None:
    done = "9140817408 bytes (9.1 GB) copied9140815872 bytes (9.1 GB) copied, 12.7428 s, 717 MB/s"
    found = _results(f"dd if=/dev/zero | dd of=/dev/null bs=8k\n{done}\n")
    assert [each.verdict for each in found] == ["refuted"]
    assert "device" in message(found[0].findings[0].fix)


def test_a_path_may_contain_an_escaped_blank() -> None:
    found = _results(f"$ dd bs=2M if=/dev/sda1 of=/media/Samsung\\ USB/test.bin\n{DONE}, 34.7954 s, 30.1 MB/s\n")
    assert [each.command for each in found] == ["dd bs=2M if=/dev/sda1 of=/media/Samsung\\ USB/test.bin"]


@pytest.mark.parametrize(
    ("lines", "command"),
    [
        (
            "  $ elbencho --help-all\n# docker run uglyb0b/elbencho:v1.8-1 -w -b 128K --direct --size 1g /dev/sda\n",
            "elbencho -w -b 128K --direct --size 1g /dev/sda",
        ),
        ("/usr/local/bin/elbencho.sh -b 128k --direct -w -d out\n", "elbencho -b 128k --direct -w -d out"),
        ("elbencho -w -b 128k --direct /dev/sda\nelbencho --help-all\n", "elbencho -w -b 128k --direct /dev/sda"),
    ],
    ids=["image", "script", "help below"],
)
def test_only_a_command_that_reads_or_writes_is_elbenchos(lines: str, command: str) -> None:
    assert [each.command for each in _results(lines + TABLE)] == [command]


def test_an_elbencho_command_that_is_cut_off_may_have_any_option() -> None:
    found = _results(f'COMMAND LINE: "/usr/local/bin/elbencho" "--write" "--threads" "4" ...\n\n{TABLE}')
    assert [(each.verdict, each.findings) for each in found] == [("unproven", ())]


def test_the_summary_of_another_script_is_not_dbenchs() -> None:
    found = _results(
        "Random Read/Write IOPS: 3741 / 9894. BW(KiB/s): 14950 / 39594.  lat(usec) 17123 / 6534\n"
        "Sequential Read/Write IOPS: 24633 / 27266. BW(KiB/s) 98508 / 109226. lat(usec) 2669 / 2347\n"
    )
    assert _figures(found) == [
        ("read", 15.3, 3741.0),
        ("write", 40.5, 9894.0),
        ("read", 100.9, 24633.0),
        ("write", 111.8, 27266.0),
    ]
    assert not any(each.findings for each in found)


def test_the_units_of_elbencho_1_8_are_in_the_names_of_its_rows() -> None:
    table = TABLE.replace("Elapsed time     :     30.140s     30.196s", "Elapsed ms       :       6001       6003")
    (found,) = _results(f"{table}            IO latency us    : [ min=91 avg=120 max=1583 ]\n")
    write = found.figures.directions["write"]
    assert write.runtime_ms == 6003
    assert write.lat is not None
    assert write.lat.mean_ns == pytest.approx(120_000)


@pytest.mark.parametrize(("elapsed", "is_short"), [("61ms", True), ("6.1s", False)])
def test_an_elbencho_phase_of_a_few_milliseconds_is_suspect(elapsed: str, *, is_short: bool) -> None:
    (found,) = audit_text(
        "post",
        f"WRITE      Elapsed time     :    {elapsed}    {elapsed}\n"
        "           Throughput MiB/s :        2100        2100\n"
        "           Total MiB        :         128         128\n",
        Context(),
    )

    doubts = {each.rule for each in found.findings if each.effect == "suspects"}
    assert ("work-done" in doubts) == is_short
