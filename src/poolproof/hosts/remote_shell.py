"""A persistent shell on a remote host, which runs one command after another over a single ssh session.

Most commands then cost the remote host only a fork and an exec, not an sshd session with a login shell. The processes:

    login shell ─▶ supervisor ─┬─ watcher: forwards the input of ssh; kills the group when this input ends
                               └─ setsid ─▶ worker: leads a process group and runs the commands in it

The worker prints a mark on both streams before and after each program's output. The mark after the output includes the
exit code.

The input of ssh stays open for as long as poolproof needs the commands. When it ends (at a time limit, on Ctrl-C, or
because poolproof was killed or the connection was lost), the worker and everything it runs receive SIGTERM, followed by
SIGKILL after 2 s. The next command then uses another shell. A command with a time limit of more than a minute also has
a timer on the remote host, in case the connection is lost without being noticed.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.errors import CommandError
from poolproof.hosts import remote_stream
from poolproof.process import decoded

FAREWELL = b"exit 0\n"
_CODE = re.compile(rb"(absent)?\d{1,3}")
_LONGEST_REQUEST_BYTES = 16384  # some shells read their script byte by byte
_WITHOUT_TIMER_S = 61  # a minute, plus the second that the timer waits longer

# The watcher prints its process ID, so that the supervisor can end it when the worker has ended, and reads the worker's
# ID. It sends SIGTERM without waiting, so that the supervisor can end it as soon as the worker ends, by a signal that
# nohup does not ignore.
_WATCHER = r"""
echo "$$"
read -r group
cat
kill -0 "$group" || exit
{ sleep 2; kill -KILL "-$group"; } &
kill -TERM "-$group"
"""
_SUPERVISOR = r"""
mark=$1 watcher=$2
export LC_ALL=C.UTF-8 LANG=C.UTF-8 TZ=UTC PATH="$PATH:/usr/sbin:/sbin"
command -v setsid >/dev/null || { echo "$mark absent"; exit; }
sh -c "$watcher" "$mark" 2>/dev/null | {
    read -r watcher
    exec 3<&0
    setsid sh -s "$mark" <&3 3<&- &
    worker=$!
    exec 3<&- 2>/dev/null
    echo "$mark $worker $(command -v printf)"
    wait "$worker" || { { sleep 2; kill -KILL "-$worker"; } >/dev/null & kill -TERM "-$worker"; }
    kill -KILL "$watcher"
}
"""

# The shell's own messages, such as "Terminated", are sent to /dev/null, because they are not the program's output.
# The timer's trap ends its sleep with SIGKILL, because a process that has not yet become `sleep` would handle any other
# signal like the shell. The timer belongs to the group that it signals, so it must ignore that signal.
_WORKER = r"""
mark=$1
exec 4>&2 2>/dev/null
pp_mark() { printf '%s %s\n' "$mark" "$*"; printf '%s %s\n' "$mark" "$*" >&4; }
pp_timer() {
    before=$!
    trap '[ "$!" = "$before" ] || kill -KILL "$!"; exit' TERM
    sleep "$1" &
    wait "$!"
    trap '' TERM
    kill -TERM "-$$"; sleep 2; kill -KILL "-$$"
}
pp_run() {
    number=$1 limit=$2 fed=$3; shift 3
    pp_mark "begin $number"
    if [ "$limit" ]; then pp_timer "$limit" </dev/null >/dev/null 4>&- & timer=$!; fi
    if [ "$fed" ]
        then text=$1; shift; printf %s "$text" | (exec "$@" 2>&4 4>&-)
        else case $1 in
            test|true) "$@" 2>&4 ;;
            *) (exec "$@" </dev/null 2>&4 4>&-)
        esac
    fi
    code=$?
    [ -z "$limit" ] || kill -TERM "$timer"
    case $code in 126|127)
        case $1 in */*) [ -f "$1" ] && [ -x "$1" ];; *) command -v "$1";; esac >/dev/null || code=absent$code
    esac
    pp_mark "end $number $code"
}
pp_read() {
    number=$1 clock=$2; shift 2
    pp_mark "begin $number"
    [ -z "$clock" ] || pp_clock_of_host
    pp_texts "$@"
    pp_mark "end $number 0"
}
"""


@dataclass(frozen=True)
class ShellRequest:
    """A request to the worker that does not have a number yet. `feeds`: True if it contains input for a program."""

    verb: str
    words: str
    feeds: bool = False

    def line(self, number: int) -> bytes:
        """Return the input line that sends this request to the worker."""
        return f"{self.verb} {number} {self.words}\n".encode()


@dataclass(frozen=True)
class CommandResult:
    """A command's exit code and output. `absent`: True if the program does not exist or is not executable."""

    code: int
    absent: bool
    stdout: str
    stderr: str


def start(mark: str, through: Sequence[str] = ()) -> str:
    """Return the command line for the login shell that starts the persistent shell. `through`: a sudo prefix."""
    return "exec " + shlex.join([*through, "sh", "-c", _SUPERVISOR, "sh", mark, _WATCHER])


@dataclass(frozen=True)
class Hello:
    """The first message from a persistent shell.

    `group`: the worker's process group, or "" if the host does not have setsid.
    `feeds`: True if the shell can pass input to a program. This requires printf to be a shell builtin, because
    otherwise the input would appear on a command line.
    """

    group: str
    feeds: bool


def hello(out: bytearray, mark: str) -> Hello | None:
    """Parse the shell's first message from its output. Return None if it has not arrived yet."""
    found = re.search(re.escape(mark).encode() + rb" (?:absent|(\d+) (.*))\n", out)
    return Hello((found[1] or b"").decode(), b"/" not in (found[2] or b"/")) if found else None


def greeting(heard: Hello) -> bytes:
    """Return the shell's initial input: the worker's process group (for the watcher), then the worker's functions."""
    return f"{heard.group}\n{remote_stream.ONCE}{_WORKER}".encode()


def ping(number: int) -> bytes:
    """Return a request that only prints a begin mark, to check that the worker responds."""
    return f"pp_mark begin {number}\n".encode()


def run_request(argv: Sequence[str], *, limit_s: int, stdin: str | None) -> ShellRequest | None:
    """Return the request to run `argv`, or None if the shell cannot run it.

    A shell cannot run it if the request would be too long, or if `stdin` contains a NUL byte.
    """
    if stdin is not None and "\0" in stdin:
        return None
    limit = str(limit_s) if limit_s > _WITHOUT_TIMER_S else ""
    fed = [] if stdin is None else [stdin]
    words = shlex.join([limit, "fed" if fed else "", *fed, *argv])
    return None if len(words.encode()) > _LONGEST_REQUEST_BYTES else ShellRequest("pp_run", words, bool(fed))


def read_request(paths: Sequence[str], *, clock: bool) -> ShellRequest | None:
    """Return the request to print the files' contents, or None if the request would be too long.

    `clock`: if True, the host's clock is printed too.
    """
    words = shlex.join(["clock" if clock else "", *paths])
    return None if len(words.encode()) > _LONGEST_REQUEST_BYTES else ShellRequest("pp_read", words)


class Reply:
    """The reply to a request, assembled from both output streams as data arrives."""

    def __init__(self, number: int, mark: str, out: bytearray, err: bytearray) -> None:
        self._streams = [_Stream(number, mark, bytes_) for bytes_ in (out, err)]

    def begun(self) -> bool:
        return all(stream.find_begin() for stream in self._streams)

    def ended(self) -> bool:
        return all(stream.find_end() for stream in self._streams)

    def result(self) -> CommandResult:
        """Return the result, which is complete only after `ended` has returned True."""
        out, err = self._streams
        found = out.code
        return CommandResult(int(found.removeprefix("absent")), found.startswith("absent"), out.text(), err.text())

    def errors(self) -> str:
        """Return the standard error received so far, for use if the reply is incomplete."""
        return self._streams[1].rest()


class _Stream:
    def __init__(self, number: int, mark: str, heard: bytearray) -> None:
        self._heard = heard
        self._begin, self._end = f"{mark} begin {number}\n".encode(), f"{mark} end {number} ".encode()
        self._starts, self._ends, self._seen = -1, -1, 0
        self.code = ""

    def find_begin(self) -> bool:
        if self._starts < 0:
            found = self._heard.find(self._begin)
            self._starts = self._seen = found + len(self._begin) if found >= 0 else -1
        return self._starts >= 0

    def find_end(self) -> bool:
        if self.code or not self.find_begin():
            return bool(self.code)
        found = self._heard.find(self._end, self._seen)
        line_ends = self._heard.find(b"\n", found) if found >= 0 else -1
        if line_ends < 0:
            self._seen = max(self._starts, len(self._heard) - len(self._end) - 16)
            return False
        code = self._heard[found + len(self._end) : line_ends]
        if not _CODE.fullmatch(code):
            raise CommandError(f"the host sent an exit code that is not a number: {bytes(code[:40])!r}")
        self._ends, self.code = found, code.decode()
        return True

    def text(self) -> str:
        return decoded(self._heard[self._starts : self._ends])

    def rest(self) -> str:
        return decoded(self._heard[max(0, self._starts) :])
