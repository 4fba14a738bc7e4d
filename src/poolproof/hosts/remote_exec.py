"""Run a program in its own ssh session, started and supervised by a POSIX shell on the remote host.

The supervisor (`_SUPERVISOR`) is needed for three reasons: ssh itself also uses the exit code 255, it cannot kill a
program that it started, and a login shell may print additional output. The supervisor therefore prints a mark on both
streams before the program's output, and the exit code at the end of standard error.

The program runs in its own process group. poolproof keeps the standard input of ssh open for as long as it needs the
program. The input ends at the time limit, on Ctrl-C, or when poolproof is killed or the connection is lost. The process
group then receives SIGTERM, followed by SIGKILL after 2 s. The program's own input is sent first on the same stream,
and the supervisor knows its length in bytes. In case a lost connection is not noticed, a timer in the supervisor kills
the program.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

# Some shells' built-in kill rejects `kill -TERM -- -PID` or `kill -s`, but all accept `kill -TERM -PID`.
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
_CODE = re.compile(r"(absent)?(\d{1,3})\s*\Z", re.ASCII)


@dataclass(frozen=True)
class SshCommand:
    """A command line for the remote host's login shell, and the data to send to its standard input."""

    line: str
    stdin: str


@dataclass(frozen=True)
class SshResult:
    """A program's output and exit code.

    `begun`: True if the supervisor started.
    `code`: the exit code, or None if the supervisor did not report one.
    `absent`: True if the program does not exist or is not executable.
    """

    begun: bool
    code: int | None
    absent: bool
    stdout: str
    stderr: str


def ssh_command(
    argv: Sequence[str], *, mark: str, limit_s: int, stdin: str | None, through: Sequence[str] = ()
) -> SshCommand:
    """Return the command that runs `argv` with `stdin` as its input.

    `through`: a prefix such as sudo.

    A command that is too long for a single argument is sent over standard input. In this case, dd reads only the
    command and leaves the program's input in the stream.
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


def parse_result(stdout: str, stderr: str, mark: str) -> SshResult:
    """Parse the output of ssh. Anything before the mark was printed by the login shell and is ignored."""
    _, begun, out = stdout.partition(f"{mark}\n")
    _, _, marked = stderr.partition(f"{mark}\n")
    err, reported, report = marked.rpartition(f"\n{mark} ")
    code = _CODE.match(report) if reported else None
    if code is None:
        return SshResult(bool(begun), None, False, out, marked or stderr)
    return SshResult(True, int(code[2]), bool(code[1]), out, err)
