"""Matching results with commands takes little time, even for hostile text."""

import time

from poolproof.load.fio.pairing import FoundResult, pair
from poolproof.load.fio.plain_lines import plain_lines
from poolproof.load.fio.source_commands import source_commands
from poolproof.load.outcome import Direction, Outcome, PartOutcome

_MANY = 40
_LIMIT_S = 5.0


def test_commands_with_many_clones_are_read_once_at_most() -> None:
    lines = [f"fio --name=a{number} --rw=read --bs=4k --size=1m --numjobs=4096" for number in range(_MANY)]
    commands = source_commands(plain_lines("\n\n".join(lines)))
    assert len(commands) == _MANY
    for names in ([f"b{number}" for number in range(_MANY)], [f"a{number}" for number in range(_MANY)]):
        parts = [PartOutcome(name=name, read=Direction(io_bytes=1 << 20)) for name in names]
        results = [
            FoundResult(Outcome(version="fio-3.36", parts=(part,)), 1000 + at, 1000 + at, "json")
            for at, part in enumerate(parts)
        ]
        begun = time.process_time()
        assert len(pair(results, commands)) == _MANY
        assert time.process_time() - begun < _LIMIT_S
