"""What runs at the far end of an ssh: a POSIX shell that starts the program, watches over it, and says how it ended.

ssh itself can't tell a program's 255 from its own, nor end a program that was started through it, and a login shell may
print words of its own. So each program is started by `_KEEPER`, which marks where the program's output begins, on both
streams, and reports the exit code last, on standard error.

The program has a process group of its own and is on a leash: as long as poolproof wants it, the standard input of its
ssh stays open. When that ends (the time limit, Ctrl-C, a poolproof that was killed, a broken link) the group is ended:
SIGTERM, SIGKILL 2 s later. What the program is to read comes over the same input first, counted in bytes. Should a link
die unnoticed, the keeper's own clock ends the program at its limit.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

# `kill -TERM -- -PID` and `kill -s` are not for every shell's built-in kill: this spelling is.
# A leash that ends after the keeper did strikes nobody: a daemon may still be on its way out of the group.
# The shell that leads the group lives through SIGTERM, so that it can tell the exit code of the program.
_KEEPER = r"""
mark=$1 limit=$2 fed=$3; shift 3
export LC_ALL=C.UTF-8 LANG=C.UTF-8 TZ=UTC PATH="$PATH:/usr/sbin:/sbin"
echo "$mark"; echo "$mark" >&2
exec 3<&0 4>&2 </dev/null 2>/dev/null
strike='kill -TERM "-$1" && sleep 2 && kill -KILL "-$1"'
setsid sh -c '
    fed=$1 leash=$2 mark=$3 keeper=$4; shift 4
    trap : TERM
    on_leash() { setsid sh -c "$leash" "$mark" "$$" "$keeper" <&3 3<&- >/dev/null 4>&- & }
    if [ "$fed" ]
        then { head -c "$fed" <&3; on_leash; } | exec "$@" 2>&4 3<&- 4>&- &
        else on_leash; exec "$@" 2>&4 3<&- 4>&- &
    fi
    while wait "$!"; code=$?; kill -0 "$!"; do :; done
    exit "$code"' sh "$fed" "read -r _; kill -0 \"\$2\" && $strike" "$mark" "$$" "$@" &
group=$!
setsid sh -c "sleep \"\$2\"; $strike" "$mark" "$group" "$limit" 3<&- >/dev/null 4>&- &
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
_LONGEST_COMMAND_BYTES = 100_000  # Linux takes 131072 in one argument, and the login shell gets all in one
_CODE = re.compile(r"(absent)?(\d+)\s*\Z")


@dataclass(frozen=True)
class SshCommand:
    """What ssh is asked to run there: the command line for the login shell, and what goes over standard input."""

    line: str
    stdin: str


@dataclass(frozen=True)
class SshResult:
    """How the program ended: its own output; `code` None when the keeper gave no report.

    `begun`: the keeper started. `absent`: there is no such program, or it may not be executed.
    """

    begun: bool
    code: int | None
    absent: bool
    stdout: str
    stderr: str


def order(
    argv: Sequence[str], *, mark: str, limit_s: int, stdin: str | None, through: Sequence[str] = ()
) -> SshCommand:
    """The order to run `argv`, reading `stdin`, under a keeper that is itself started by `through` (sudo).

    An order too long for one argument comes over standard input; dd reads no byte beyond it.
    """
    fed = "" if stdin is None else str(len(stdin.encode()))
    keeper = ["sh", "-c", _KEEPER, "sh", mark, str(limit_s), fed]
    line = "exec " + shlex.join([*through, *keeper, *argv])
    length = len(line.encode())
    if length <= _LONGEST_COMMAND_BYTES:
        return SshCommand(line, stdin or "")
    return SshCommand(
        "exec sh -c " + shlex.quote(f'eval "$(dd bs=1 count={length} 2>/dev/null)"'), line + (stdin or "")
    )


def outcome(stdout: str, stderr: str, mark: str) -> SshResult:
    """What the program did, from all that came back; words before the mark are the login shell's."""
    _, begun, out = stdout.partition(f"{mark}\n")
    _, _, said = stderr.partition(f"{mark}\n")
    err, reported, report = said.rpartition(f"\n{mark} ")
    code = _CODE.match(report) if reported else None
    if code is None:
        return SshResult(bool(begun), None, False, out, said or stderr)
    return SshResult(True, int(code[2]), bool(code[1]), out, err)
