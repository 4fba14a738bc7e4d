"""Damaged copies of real outputs: no text may cause a traceback, or take longer than a few seconds.

    python -m tests.fuzz.mutated_texts [COUNT] [SEED]

This audits and lints COUNT texts (default: 10,000), and prints their number. At the first failure, it saves the text
and exits with 1. Unlike coverage-guided fuzzing, it needs no library, and the same seed always yields the same texts.
"""

import contextlib
import json
import random
import re
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.fuzz.cpu_limit import cpu_limit
from tests.unit.foreign.audit.test_formats import VALUES
from tests.unit.foreign.audit.test_more_formats import VALUES as MORE_VALUES

from poolproof.api import lint
from poolproof.errors import PoolproofError
from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import audited_object
from poolproof.foreign.audit.sources import as_text
from poolproof.foreign.audit.texts import audit_text
from poolproof.presentation.terminal.audited import audited_lines

_CASES = Path(__file__).parents[1] / "unit" / "foreign" / "audit"
_LONGEST_SEED = 6000
_LONGEST_TEXT = 12_000
_NUMBERS = ("0", "-1", "1e999", "nan", "inf", "99999999999999999999999999", "1,5", "0.0", "٣", "1.2.3", "0x10", "")
_PIECES = (
    "\x00", "\r", "\x1b[31m", "(", "[", '"', "\\", "|", ";" * 50, "=" * 40, "a" * 3000, "\u202e", "–", "{", "```\n",
    "> > ", " " * 500, "fio ", "dd if=", "\t\t", "🦆", "1" * 300, "%s", "--bs=", "1-" * 200,
)  # fmt: skip


def seeds(more: tuple[str, ...] = ()) -> list[str]:
    """Return the texts to damage: the outputs captured for the tests, shortened, and those in `more`."""
    files = sorted([*(_CASES / "cases").glob("*.*"), *(_CASES / "posts").glob("*.txt")])
    texts = [as_text(file.read_bytes()) for file in files if file.suffix != ".toml"]
    return [text[:_LONGEST_SEED] for text in (*texts, *more)]


def mutated(texts: list[str], count: int, seed: int) -> Iterator[str]:
    """Yield damaged copies of the texts. The same seed always yields the same copies."""
    chance = random.Random(seed)
    for _ in range(count):
        text = chance.choice(texts)
        for _ in range(chance.randint(1, 6)):
            text = chance.choice(_MUTATIONS)(text, texts, chance)
        yield text[:_LONGEST_TEXT]


_Mutation = Callable[[str, list[str], random.Random], str]


def _cut(text: str, _: list[str], chance: random.Random) -> str:
    return text[: chance.randint(0, len(text))]


def _behead(text: str, _: list[str], chance: random.Random) -> str:
    return text[chance.randint(0, len(text)) :]


def _insert(text: str, _: list[str], chance: random.Random) -> str:
    at = chance.randint(0, len(text))
    return text[:at] + chance.choice(_PIECES) + text[at:]


def _splice(text: str, texts: list[str], chance: random.Random) -> str:
    other = chance.choice(texts)
    return text[: chance.randint(0, len(text))] + other[chance.randint(0, len(other)) :]


def _shuffle(text: str, _: list[str], chance: random.Random) -> str:
    lines = text.split("\n")
    first = chance.randint(0, len(lines))
    part = lines[first : first + 20]
    chance.shuffle(part)
    return "\n".join([*lines[:first], *part, *lines[first + 20 :]])


def _renumber(text: str, _: list[str], chance: random.Random) -> str:
    numbers = list(re.finditer(r"\d+(?:\.\d+)?", text))
    for match in reversed(chance.sample(numbers, min(len(numbers), 5))):
        text = text[: match.start()] + chance.choice(_NUMBERS) + text[match.end() :]
    return text


def _repeat(text: str, _: list[str], chance: random.Random) -> str:
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    return "\n".join([*lines[:at], *[lines[at]] * chance.randint(2, 40), *lines[at:]])


def _flip(text: str, _: list[str], chance: random.Random) -> str:
    if not text:
        return text
    at = chance.randrange(len(text))
    return text[:at] + chr(chance.randint(1, 0x2FF)) + text[at + 1 :]


_MUTATIONS: tuple[_Mutation, ...] = (
    _cut,
    _behead,
    _insert,
    _splice,
    _shuffle,
    _renumber,
    _repeat,
    _flip,
    _flip,
    _insert,
)


def audit_all(texts: Iterator[str]) -> int:
    """Audit, print and lint every text, and return the number of texts.

    Raises:
        RuntimeError: a text caused an exception or took more than 5 s of processor time. The text is saved in the
            current folder.
    """
    count = 0
    with cpu_limit() as restart:
        for text in texts:
            restart()
            _audit(text)
            count += 1
    return count


def _audit(text: str) -> None:
    try:
        results = audit_text("fuzz", text, Context())
        json.dumps([audited_object(audited) for audited in results])
        for audited in results:
            list(audited_lines(audited, 100))
        with contextlib.suppress(PoolproofError):
            lint(text)
    except Exception as error:
        path = Path(f"crash-{abs(hash(text)) % 10**10}.txt")
        path.write_text(text, encoding="utf-8", errors="replace")
        raise RuntimeError(f"saved as {path}:\n{traceback.format_exc()}") from error


def _main() -> int:
    count, seed = (int(value) for value in (*sys.argv[1:3], *("10000", "1")[len(sys.argv) - 1 :]))
    begun = time.monotonic()
    try:
        formats = (*(text for text, _ in VALUES.values()), *MORE_VALUES)
        done = audit_all(mutated(seeds(formats * 3), count, seed))
    except RuntimeError as error:
        print(error)
        return 1
    print(f"{done} damaged texts (seed {seed}) in {time.monotonic() - begun:.0f} s: no traceback, no hang")
    return 0


if __name__ == "__main__":
    raise SystemExit(_main())
