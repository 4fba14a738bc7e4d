"""A shell that stays at the far end of one ssh and runs one command after the other, each told to it in a line.

So a command costs that machine one fork and one exec, and no session of its sshd with a login shell. Who is there:

    login shell ─▶ keeper ─┬─ leash: passes on what comes over ssh; ends the group when that ends
                           └─ setsid ─▶ worker, the leader of a process group: runs the commands, which stay in it

The worker's output is the programs' own; it marks where the output of each begins and ends, on both streams, with the
exit code. As long as poolproof wants the commands, the input of the ssh stays open. When it ends (a time limit, Ctrl-C,
a poolproof that was killed, a broken link) the worker and all that it runs get SIGTERM, and SIGKILL 2 s later; the next
command gets another shell. A command that may take long is watched by a clock over there too, for a link that dies
unnoticed.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from poolproof.hosts import remote_stream as far_stream

FAREWELL = b"exit 0\n"
_LONGEST_REQUEST_BYTES = 16384  # some shells read their script byte by byte
_WITHOUT_CLOCK_S = 61  # a minute, and the second that the clock comes later

# The leash tells its number, so that the keeper can end it when the worker is gone, and is told the worker's.
# It strikes without waiting, so that the end of the worker may end it at once: by a signal that nohup does not ignore.
_LEASH = r"""
echo "$$"
read -r group
cat
kill -0 "$group" || exit
{ sleep 2; kill -KILL "-$group"; } &
kill -TERM "-$group"
"""
_KEEPER = r"""
mark=$1 leash=$2
export LC_ALL=C.UTF-8 LANG=C.UTF-8 TZ=UTC PATH="$PATH:/usr/sbin:/sbin"
command -v setsid >/dev/null || { echo "$mark absent"; exit; }
sh -c "$leash" "$mark" 2>/dev/null | {
    read -r leash
    exec 3<&0
    setsid sh -s "$mark" <&3 3<&- &
    worker=$!
    exec 3<&- 2>/dev/null
    echo "$mark $worker $(command -v printf)"
    wait "$worker" || { { sleep 2; kill -KILL "-$worker"; } >/dev/null & kill -TERM "-$worker"; }
    kill -KILL "$leash"
}
"""

# The shell's own words, as "Terminated", are not the program's: its standard error is closed to them.
# A trap of its own lets the clock end its sleep, by SIGKILL: one that was not yet sleep might take another for the
# shell's. It is in the group that it strikes, so it must not hear that itself.
_WORKER = r"""
mark=$1
exec 4>&2 2>/dev/null
pp_say() { printf '%s %s\n' "$mark" "$*"; printf '%s %s\n' "$mark" "$*" >&4; }
pp_clock() {
    before=$!
    trap '[ "$!" = "$before" ] || kill -KILL "$!"; exit' TERM
    sleep "$1" &
    wait "$!"
    trap '' TERM
    kill -TERM "-$$"; sleep 2; kill -KILL "-$$"
}
pp_run() {
    number=$1 limit=$2 fed=$3; shift 3
    pp_say "begin $number"
    if [ "$limit" ]; then pp_clock "$limit" </dev/null >/dev/null 4>&- & clock=$!; fi
    if [ "$fed" ]
        then text=$1; shift; printf %s "$text" | (exec "$@" 2>&4 4>&-)
        else case $1 in
            test|true) "$@" 2>&4 ;;
            *) (exec "$@" </dev/null 2>&4 4>&-)
        esac
    fi
    code=$?
    [ -z "$limit" ] || kill -TERM "$clock"
    case $code in 126|127)
        case $1 in */*) [ -f "$1" ] && [ -x "$1" ];; *) command -v "$1";; esac >/dev/null || code=absent$code
    esac
    pp_say "end $number $code"
}
pp_look() {
    number=$1 clock=$2; shift 2
    pp_say "begin $number"
    [ -z "$clock" ] || pp_clock_of_host
    pp_texts "$@"
    pp_say "end $number 0"
}
"""


@dataclass(frozen=True)
class ShellRequest:
    """What the worker is to do, but for the request's number. `feeds`: a program gets input."""

    verb: str
    words: str
    feeds: bool = False

    def line(self, number: int) -> bytes:
        """What the worker is told."""
        return f"{self.verb} {number} {self.words}\n".encode()


@dataclass(frozen=True)
class CommandResult:
    """How a command ended: its exit code, and its own output. `absent`: no such program, or it may not be executed."""

    code: int
    absent: bool
    stdout: str
    stderr: str


def start(mark: str, through: Sequence[str] = ()) -> str:
    """The line for the login shell that starts it, by way of `through` (sudo)."""
    return "exec " + shlex.join([*through, "sh", "-c", _KEEPER, "sh", mark, _LEASH])


@dataclass(frozen=True)
class Hello:
    """What it says once it stands: the worker's process group, empty for want of setsid.

    `feeds`: its printf is built in, so that the input of a program is on no command line.
    """

    group: str
    feeds: bool


def hello(out: bytearray, mark: str) -> Hello | None:
    """What it said; None as long as it did not."""
    found = re.search(re.escape(mark).encode() + rb" (?:absent|(\d+) (.*))\n", out)
    return Hello((found[1] or b"").decode(), b"/" not in (found[2] or b"/")) if found else None


def greeting(heard: Hello) -> bytes:
    """What it must be told first."""
    return f"{heard.group}\n{far_stream.ONCE}{_WORKER}".encode()


def ping(number: int) -> bytes:
    """The request for a sign of life, which is that of a beginning."""
    return f"pp_say begin {number}\n".encode()


def to_run(argv: Sequence[str], *, limit_s: int, stdin: str | None) -> ShellRequest | None:
    """The request to run `argv`; None for what has to go another way: too long, or input that a shell can't hold."""
    if stdin is not None and "\0" in stdin:
        return None
    limit = str(limit_s) if limit_s > _WITHOUT_CLOCK_S else ""
    fed = [] if stdin is None else [stdin]
    words = shlex.join([limit, "fed" if fed else "", *fed, *argv])
    return None if len(words.encode()) > _LONGEST_REQUEST_BYTES else ShellRequest("pp_run", words, bool(fed))


def to_look(paths: Sequence[str], *, clock: bool) -> ShellRequest | None:
    """The request to tell what the files hold, and the time of the clock; None for more paths than it takes."""
    words = shlex.join(["clock" if clock else "", *paths])
    return None if len(words.encode()) > _LONGEST_REQUEST_BYTES else ShellRequest("pp_look", words)


class Reply:
    """Recognises the answer to one request in what comes back on the two streams, while that grows."""

    def __init__(self, number: int, mark: str, out: bytearray, err: bytearray) -> None:
        self._streams = [_Stream(number, mark, bytes_) for bytes_ in (out, err)]

    def begun(self) -> bool:
        """The beginning came, on both streams."""
        return all(stream.find_begin() for stream in self._streams)

    def ended(self) -> bool:
        """The end came, on both streams."""
        return all(stream.find_end() for stream in self._streams)

    def answer(self) -> CommandResult:
        """The answer, once it ended."""
        out, err = self._streams
        found = out.code
        return CommandResult(int(found.removeprefix("absent")), found.startswith("absent"), out.text(), err.text())

    def said(self) -> str:
        """What came on standard error so far, of an answer that was cut off."""
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
        self._ends, self.code = found, self._heard[found + len(self._end) : line_ends].decode()
        return True

    def text(self) -> str:
        return _text(self._heard[self._starts : self._ends])

    def rest(self) -> str:
        return _text(self._heard[max(0, self._starts) :])


def _text(said: bytes | bytearray) -> str:
    """As every host gives it: bytes that are not UTF-8 replaced, one kind of line end."""
    return said.decode("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
