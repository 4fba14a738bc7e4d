"""Run a program in its own ssh session. A POSIX shell on the remote host starts and supervises the program.

ssh can't distinguish a program's exit code 255 from its own and can't end a program that it started, and a login shell
may print text. So `_SUPERVISOR` starts each program. The supervisor marks where the program's output begins on both
streams, and prints the exit code at the end of standard error.

The program has its own process group. The standard input of ssh stays open as long as poolproof needs the program. That
input ends at the time limit, at Ctrl-C, or because poolproof was killed or the connection broke. The group then gets
SIGTERM, and SIGKILL 2 s later. The program's own input comes first on the same stream, and the supervisor knows its
length in bytes. If a connection dies unnoticed, the supervisor's timer ends the program.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

# Not every shell's built-in kill accepts `kill -TERM -- -PID` or `kill -s`; all accept this form.
# If the input ends after the supervisor has ended, nothing is killed, because a daemon may still be leaving the group.
# The shell that leads the group ignores SIGTERM, so that it can report the exit code of the program.
_SUPERVISOR = r"""
mark=$1 limit=$2 fed=$3; shift 3
export LC_ALL=C.UTF-8 LANG=C.UTF-8 TZ=UTC PATH="$PATH:/usr/sbin:/sbin"
echo "$mark"; echo "$mark" >&2
exec 3<&0 4>&2 </dev/null 2>/dev/null
end_group='kill -TERM "-$1" && sleep 2 && kill -KILL "-$1"'
setsid sh -c '
    fed=$1 watcher=$2 mark=$3 supervisor=$4; shift 4
    trap : TERM
    watch_input() { setsid sh -c "$watcher" "$mark" "$$" "$supervisor" <&3 3<&- >/dev/null 4>&- & }
    if [ "$fed" ]
        then { head -c "$fed" <&3; watch_input; } | exec "$@" 2>&4 3<&- 4>&- &
        else watch_input; exec "$@" 2>&4 3<&- 4>&- &
    fi
    while wait "$!"; code=$?; kill -0 "$!"; do :; done
    exit "$code"' sh "$fed" "read -r _; kill -0 \"\$2\" && $end_group" "$mark" "$$" "$@" &
group=$!
setsid sh -c "sleep \"\$2\"; $end_group" "$mark" "$group" "$limit" 3<&- >/dev/null 4>&- &
clock=$!
exec 3<&-
wait "$group"; code=$?
kill -KILL "-$clock" || kill -KILL "$clock"
case $code in 126|127)
    case $1 in */*) [ -f "$1" ] && [ -x "$1" ];; *) command -v "$1";; esac >/dev/null || code=absent$code
esac
echo "
$mark $code" >&4
"""
# Linux limits an argument to 131072 bytes, and the login shell gets the whole command as one argument
_LONGEST_COMMAND_BYTES = 100_000
_CODE = re.compile(r"(absent)?(\d+)\s*\Z")


@dataclass(frozen=True)
class SshCommand:
    """A command line for the login shell on the remote host, and the text for its standard input."""

    line: str
    stdin: str


@dataclass(frozen=True)
class SshResult:
    """A program's output and exit code. `code` is None if the supervisor did not report an exit code.

    `begun` is true if the supervisor started. `absent` is true if the program does not exist or is not executable.
    """

    begun: bool
    code: int | None
    absent: bool
    stdout: str
    stderr: str


def ssh_command(
    argv: Sequence[str], *, mark: str, limit_s: int, stdin: str | None, through: Sequence[str] = ()
) -> SshCommand:
    """Return the command that runs `argv` with `stdin` as its input. `through` is a prefix such as sudo.

    A command that is too long for one argument is sent over standard input instead. dd then reads exactly the command
    and leaves the program's input in the stream.
    """
    fed = "" if stdin is None else str(len(stdin.encode()))
    supervisor = ["sh", "-c", _SUPERVISOR, "sh", mark, str(limit_s), fed]
    line = "exec " + shlex.join([*through, *supervisor, *argv])
    length = len(line.encode())
    if length <= _LONGEST_COMMAND_BYTES:
        return SshCommand(line, stdin or "")
    return SshCommand(
        "exec sh -c " + shlex.quote(f'eval "$(dd bs=1 count={length} 2>/dev/null)"'), line + (stdin or "")
    )


def outcome(stdout: str, stderr: str, mark: str) -> SshResult:
    """Parse what ssh printed. Text before the mark comes from the login shell and is dropped."""
    _, begun, out = stdout.partition(f"{mark}\n")
    _, _, marked = stderr.partition(f"{mark}\n")
    err, reported, report = marked.rpartition(f"\n{mark} ")
    code = _CODE.match(report) if reported else None
    if code is None:
        return SshResult(bool(begun), None, False, out, marked or stderr)
    return SshResult(True, int(code[2]), bool(code[1]), out, err)
