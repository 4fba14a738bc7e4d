"""What all hosts must guarantee: exact arguments, exit codes, time limits, files and streams."""

import itertools
import signal
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poolproof.errors import CommandError
from poolproof.hosts.base import FileMissing, Host
from poolproof.process import CommandFailed, CommandTimedOut, ProgramMissing
from poolproof.steps import daemon
from tests.loop.hosts.processes import running, wait_until_true

pytestmark = pytest.mark.parallel

_LIMIT_S = 120.0
_CLOCKS_S = 1.0  # `date` on the host may have to wait for a processor
_WORDS = [
    "",
    " ",
    "a b",
    "'",
    '"',
    "it's",
    "$HOME",
    "$(id)",
    "`id`",
    "\\",
    "\\n",
    "line\nbreak\n",
    "\n",
    "\t",
    "*",
    "~",
    "-n",
    "--",
    "!!",
    "#",
    "a;b",
    "a&b",
    "a|b",
    ">x",
    "{a,b}",
    "é ü 漢字 🙂",
    "%s",
]
_WITHOUT_NUL = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)


def _arguments_seen(host: Host, *words: str) -> list[str]:
    """Return the arguments as a program on the host receives them."""
    out = host.run(["printf", "%s\\0", *words], timeout_s=_LIMIT_S).stdout
    return out.removesuffix("\0").split("\0")


def test_arguments_arrive_unchanged(host: Host) -> None:
    assert _arguments_seen(host, *_WORDS) == _WORDS


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(_WITHOUT_NUL, min_size=1, max_size=8))
def test_any_arguments_arrive_unchanged(host: Host, words: list[str]) -> None:
    # Text from a pipe has only one kind of line end: "\r" becomes "\n" on every host.
    assert _arguments_seen(host, *words) == [word.replace("\r\n", "\n").replace("\r", "\n") for word in words]


@pytest.mark.parametrize("word", ["x" * 100_000, "it's " * 20_000, "é" * 50_000], ids=["plain", "quotes", "unicode"])
def test_an_argument_of_100_kb_arrives(host: Host, word: str) -> None:
    assert _arguments_seen(host, word) == [word]


def test_all_input_arrives_and_ends(host: Host) -> None:
    text = "it's\n$HOME é\n" * 400_000
    counted = host.run(["wc", "-c"], timeout_s=_LIMIT_S, stdin=text).stdout
    assert int(counted) == len(text.encode())
    assert host.run(["cat"], timeout_s=_LIMIT_S, stdin="no line end").stdout == "no line end"
    assert host.run(["cat"], timeout_s=_LIMIT_S, stdin="").stdout == ""


def test_input_after_long_arguments(host: Host) -> None:
    script = 'printf %s "$1" | wc -c; cat'
    completed = host.run(["sh", "-c", script, "sh", "y" * 110_000], timeout_s=_LIMIT_S, stdin="the input\n")
    assert completed.stdout.split("\n") == ["110000", "the input", ""]


def test_a_program_may_ignore_its_input(host: Host) -> None:
    assert host.run(["true"], timeout_s=_LIMIT_S, stdin="x" * 1_000_000).returncode == 0


def test_without_input_a_program_reads_nothing(host: Host) -> None:
    assert host.run(["cat"], timeout_s=_LIMIT_S).stdout == ""


def test_every_exit_code_comes_back(host: Host) -> None:
    codes = [0, 1, 2, 3, 100, 124, 125, 126, 127, 128, 129, 137, 143, 200, 254, 255]
    found = [
        host.run(["sh", "-c", 'exit "$1"', "sh", str(code)], timeout_s=_LIMIT_S, check=False).returncode
        for code in codes
    ]
    assert found == codes


def test_a_nonzero_exit_code_is_an_error_with_the_output(host: Host) -> None:
    argv = ["sh", "-c", "echo out; echo why >&2; exit 255"]
    with pytest.raises(CommandFailed) as raised:
        host.run(argv, timeout_s=_LIMIT_S)
    completed = raised.value.completed
    assert (completed.argv, completed.returncode) == (tuple(argv), 255)
    assert (completed.stdout, completed.stderr) == ("out\n", "why\n")


def test_output_and_errors_are_separate(host: Host) -> None:
    script = "printf out1; printf err1 >&2; printf out2; printf err2 >&2"
    completed = host.run(["sh", "-c", script], timeout_s=_LIMIT_S)
    assert (completed.stdout, completed.stderr) == ("out1out2", "err1err2")


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("end", "end"),
        (r"a\000b\000", "a\0b\0"),
        (r"\000\n\n", "\0\n\n"),
        (r"\n", "\n"),
        (r"\001\377\303\251 \n ", "\1\ufffdé \n "),
    ],
)
def test_output_comes_back_byte_for_byte(host: Host, form: str, text: str) -> None:
    completed = host.run(["sh", "-c", 'printf "$0"; printf "$0" >&2', form], timeout_s=_LIMIT_S)
    assert (completed.stdout, completed.stderr) == (text, text)


def test_ten_megabytes_come_back_on_both_streams(host: Host) -> None:
    script = "yes 0123456789abcde | head -c 10000000; yes fedcba987654321 | head -c 10000000 >&2"
    completed = host.run(["sh", "-c", script], timeout_s=_LIMIT_S)
    assert completed.stdout == ("0123456789abcde\n" * 625_000)
    assert completed.stderr == ("fedcba987654321\n" * 625_000)


def test_the_locale_is_fixed_and_system_folders_are_searched(host: Host) -> None:
    said = host.run(["sh", "-c", 'echo "$LC_ALL $LANG $TZ:$PATH"'], timeout_s=_LIMIT_S).stdout.strip()
    words, *folders = said.split(":")
    assert words == "C.UTF-8 C.UTF-8 UTC"
    assert {"/usr/sbin", "/sbin"} <= set(folders)


def test_commands_run_as_root(host: Host) -> None:
    assert host.run(["id", "-u"], timeout_s=_LIMIT_S).stdout == "0\n"


@pytest.mark.parametrize("name", ["poolproof-no-such-program", "/no/such/program"])
def test_a_missing_program_is_named(host: Host, name: str) -> None:
    with pytest.raises(ProgramMissing, match=name):
        host.run([name, "x"], timeout_s=_LIMIT_S, check=False)


def test_a_file_that_is_not_executable_is_named(host: Host, tmp_path: Path) -> None:
    path = tmp_path / "plain"
    path.write_text("true\n")
    with pytest.raises(CommandError, match="no permission to execute"):
        host.run([str(path)], timeout_s=_LIMIT_S)


@pytest.mark.parametrize("stdin", [None, "short", "x" * 1_000_000], ids=["no input", "fed", "more than it reads"])
def test_a_program_that_exceeds_its_time_limit_is_killed_with_its_children(host: Host, stdin: str | None) -> None:
    begun = time.monotonic()
    with pytest.raises(CommandTimedOut, match=r"within 0\.7 s"):
        host.run(["sh", "-c", "sleep 4711 & sleep 4712"], timeout_s=0.7, stdin=stdin)
    assert time.monotonic() - begun < 10
    wait_until_true(lambda: not running("sleep 4711") and not running("sleep 4712"))


def test_a_program_that_ignores_the_first_signal_is_killed(host: Host) -> None:
    with pytest.raises(CommandTimedOut):
        host.run(["sh", "-c", "trap '' TERM; sleep 4713; sleep 4714"], timeout_s=0.5)
    wait_until_true(lambda: not running("sleep 4713") and not running("sleep 4714"))


def test_ctrl_c_ends_the_program(host: Host) -> None:
    """The signal arrives in the main thread, where poolproof waits for its programs."""
    before = signal.signal(signal.SIGALRM, _interrupt)
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    try:
        with pytest.raises(KeyboardInterrupt):
            host.run(["sleep", "4715"], timeout_s=_LIMIT_S)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    wait_until_true(lambda: not running("sleep 4715"))


def test_a_daemon_outlives_its_command(host: Host) -> None:
    wanted = 5
    try:
        for _ in range(wanted):
            host.run(daemon(("sleep", "4716"), "/dev/null"), timeout_s=_LIMIT_S)
        time.sleep(1)
        assert len(running("sleep 4716")) == wanted
    finally:
        host.run(["pkill", "-f", "^sleep 4716$"], timeout_s=_LIMIT_S, check=False)


def test_commands_in_parallel(host: Host) -> None:
    """poolproof reads rates while fio is running and the counters are being streamed."""
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(host.run(["sleep", "0.5"], timeout_s=_LIMIT_S).stdout))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_LIMIT_S)
    assert found == [""] * 4


def test_a_file_is_read_completely(host: Host, tmp_path: Path) -> None:
    path = tmp_path / "it's a file $x"
    path.write_bytes(b"first\nsecond \xff\nno line end")
    assert host.read(str(path)) == "first\nsecond \ufffd\nno line end"
    path.write_text("0123456789abcde\n" * 625_000)
    assert host.read(str(path)) == path.read_text()
    assert host.read("/proc/self/mounts").count("\n") > 1


@pytest.mark.parametrize("path", ["/no/such/file", "/", "/proc/self/mem/x"])
def test_an_unreadable_file_is_missing(host: Host, path: str) -> None:
    with pytest.raises(FileMissing, match=path):
        host.read(path)


def test_read_files_returns_one_time_of_the_host_s_clock(host: Host, tmp_path: Path) -> None:
    torn = tmp_path / "it's torn"
    torn.write_text("one\n\n  two\\n\nno line end")
    before = time.time()
    ticks = [host.read_files([str(torn), "/no/such/file", "/proc/uptime"]) for _ in range(3)]
    after = time.time()
    assert {tick.texts[:2] for tick in ticks} == {("one\n\n  two\\n\nno line end", "")}
    assert before - _CLOCKS_S < ticks[0].at_s <= ticks[1].at_s <= ticks[2].at_s < after + _CLOCKS_S
    assert all(float(tick.texts[2].split()[0]) > 0 for tick in ticks)


def test_read_files_in_parallel(host: Host) -> None:
    """In each thread, the read may be the first command of its shell."""
    seen: list[int] = []

    def look() -> None:
        seen.extend(host.read_files(["/proc/uptime"]).texts[0].count("\n") for _ in range(3))

    threads = [threading.Thread(target=look) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_LIMIT_S)
    assert seen == [1] * 18


def test_a_sysfs_file_is_read(host: Host) -> None:
    assert host.read("/sys/kernel/mm/transparent_hugepage/enabled").count("[") == 1
    with pytest.raises(FileMissing, match="No such file"):
        host.read("/sys/no/such/file")


def test_a_stream_reads_until_its_context_ends(host: Host, tmp_path: Path) -> None:
    counter, torn = tmp_path / "it's a counter", tmp_path / "torn"
    counter.write_text("one 1\n\n  two\\n\n")
    torn.write_text("no line end")
    ticks = []
    with host.stream([str(counter), "/no/such/file", str(torn)], 0.2) as stream:
        for tick in stream:
            ticks.append(tick)
            if len(ticks) == 6:
                break
    assert {tick.texts for tick in ticks} == {("one 1\n\n  two\\n\n", "", "no line end")}
    steps = [later.at_s - earlier.at_s for earlier, later in itertools.pairwise(ticks)]
    assert all(step > 0 for step in steps), steps
    assert 0.75 < sum(steps) < 3, f"five steps of 0.2 s, of which the first reading may be late: {steps}"
    assert abs(ticks[-1].at_s - time.time()) < 5
    wait_until_true(lambda: not running("it's a counter"))


def test_a_stream_sees_changes(host: Host) -> None:
    with host.stream(["/proc/uptime"], 0.1) as stream:
        first, second = next(stream), next(stream)
    ups = [float(tick.texts[0].split()[0]) for tick in (first, second)]
    assert ups[1] - ups[0] == pytest.approx(second.at_s - first.at_s, abs=0.06)


def test_a_stream_ends_for_its_reader_when_the_context_ends(host: Host) -> None:
    """As with the sampler, another thread reads the stream."""
    seen: list[float] = []
    with host.stream(["/proc/uptime"], 0.1) as stream:
        thread = threading.Thread(target=lambda: seen.extend(tick.at_s for tick in stream))
        thread.start()
        wait_until_true(lambda: len(seen) >= 3)
    thread.join(5)
    assert not thread.is_alive()


def test_a_stream_uses_the_clock_of_the_host(host: Host) -> None:
    """Here, the host's clock is that of this machine. /proc/uptime has a resolution of 10 ms."""
    before = time.time()
    with host.stream(["/proc/uptime"], 0.1) as stream:
        ticks = [next(stream) for _ in range(3)]
    after = time.time()
    assert before - _CLOCKS_S < ticks[0].at_s < ticks[1].at_s < ticks[2].at_s < after + _CLOCKS_S


def _interrupt(*_signal: object) -> None:
    raise KeyboardInterrupt
