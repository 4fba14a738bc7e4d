"""fio's report on a host: its totals while it grows, and complete reports at the end."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from poolproof.hosts.base import FileMissing, Host
from poolproof.load.fio.json_output import read_json_stream
from poolproof.load.fio.status import WANTED, Statuses
from poolproof.load.generator import Status
from poolproof.load.outcome import Outcome

_LIMIT_S = 60.0
_CLOCKS_S = 0.05
_LINES = 'tail -c "+$2" "$1" | grep -abE "$3"; :'
_PIECES = (
    "f=$1; shift; while [ $# -gt 0 ]; do "
    'dd if="$f" bs=64K iflag=skip_bytes,count_bytes skip="$1" count="$2" status=none || exit; shift 2; done'
)
_WANTED = re.compile(WANTED.replace('[^"]', r'[^"\n]'), re.MULTILINE)  # grep looks at one line at a time
_PIECE = 'tail -c "+$2" "$1" | head -c "$3"'


@dataclass
class FioReport:
    """The file to which the running fio appends its reports. `statuses` are those read so far.

    Reports older than `begun_at_s`, the start of fio by the host's clock, belong to another run.
    """

    host: Host
    path: str
    begun_at_s: float
    statuses: list[Status] = field(default_factory=list)
    _text: str = ""

    def read_all(self) -> None:
        """Read the complete file, so that no later call asks the host. For the short report of an ended fio.

        Raises:
            CommandError: the host did not answer.
        """
        try:
            self._text = self.host.read(self.path)
        except FileMissing:
            return
        reader = Statuses()
        reader.feed(f"{line.start()}:{line[0]}" for line in _WANTED.finditer(self._text))
        self.statuses = self._ours(reader)

    def read_on(self) -> None:
        """Read the lines with totals that were written since the last call; the rest would load the network.

        Raises:
            CommandError: the host did not answer.
        """
        offset = self.statuses[-1].end if self.statuses else 0
        found = self.host.run(["sh", "-c", _LINES, "sh", self.path, str(offset + 1), WANTED], timeout_s=_LIMIT_S)
        reader = Statuses()
        reader.feed(found.stdout.splitlines(), offset)
        self.statuses += self._ours(reader)

    def _ours(self, reader: Statuses) -> list[Status]:
        return [status for status in reader.found if status.at_s >= self.begun_at_s - _CLOCKS_S]

    def document(self, status: Status) -> str:
        """Return the complete report that a status comes from.

        Raises:
            CommandError: the host did not answer.
        """
        if self._text:
            return self._text[status.start : status.end]
        start, length = str(status.start + 1), str(status.end - status.start)
        return self.host.run(["sh", "-c", _PIECE, "sh", self.path, start, length], timeout_s=_LIMIT_S).stdout

    def outcomes(self, statuses: Sequence[Status]) -> tuple[Outcome, ...]:
        """Return the outcomes that these statuses come from.

        Raises:
            CommandError: the host did not answer.
        """
        return read_json_stream(self.documents(statuses))

    def documents(self, statuses: Sequence[Status]) -> str:
        """Return the complete reports that these statuses come from, one after the other.

        Raises:
            CommandError: the host did not answer.
        """
        if self._text:
            return "".join(map(self.document, statuses))
        places = [str(place) for status in statuses for place in (status.start, status.end - status.start)]
        return self.host.run(["sh", "-c", _PIECES, "sh", self.path, *places], timeout_s=_LIMIT_S).stdout
