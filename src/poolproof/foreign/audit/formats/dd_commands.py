"""Parse dd's commands, and describe what dd does with them."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from poolproof.foreign.audit.amounts import size_in_bytes
from poolproof.foreign.audit.formats.protocol import ForeignResult, outcome_of
from poolproof.foreign.dropped_caches import drops_caches, drops_clean_pages, syncs
from poolproof.load.model import Extent, LoadPart
from poolproof.load.outcome import Direction

COMMAND = re.compile(r"(?:(?<![\w/.-])|(?<=/))g?dd\s++(?=\S+=\S)")  # Homebrew installs GNU dd as gdd
_ARGUMENT = r"[a-z]{1,9}=(?:\"[^\"]*\"|'[^']*'|\$\(\(?[^()]*\)\)?|(?:\\ (?![a-z]{1,9}=)(?=\S)|[^\s;|&`()<>])++)"
ARGUMENTS = re.compile(rf"{_ARGUMENT}(?:\s++{_ARGUMENT})*+")
_WORD = re.compile(
    r"(?<!\S)(if|of|bs|ibs|obs|count|oflag|iflag|conv)=(\"[^\"]*\"|'[^']*'|(?:\\ (?![a-z]{1,9}=)(?=\S)|[^\s;|&`)])+)"
)
_REDIRECT = re.compile(r"\s{0,9}>>?\s{0,9}(?P<path>[~/\w][\w./~-]{0,200})(?=\s|$|[;)`])")
_DEVICE = re.compile(r"/dev/(?:r?disk\d|[shv]d[a-z]|xvd[a-z]|nvme\d|mmcblk\d|md\d|dm-\d|mapper/|disk/)")
_MOST_DIGITS = 19
_SHELL = re.compile(r"^\W{0,9}(?:\S{1,80}[#$%>]\s?)?(?:sudo\s+)?(?:echo|printf|sysctl|tee|sh|bash|free)\b")
_ZEROS = ("/dev/zero",)
NOWHERE = ("/dev/null", "/dev/zero")


@dataclass(frozen=True)
class DdCommand:
    """A dd command in a text: its line, its arguments, and the text after them on the same line."""

    line: int
    text: str
    words: dict[str, str]
    after: str = ""

    @property
    def source(self) -> str:
        return self.words.get("if", "")

    @property
    def target(self) -> str:
        return self.words.get("of", "")

    @property
    def is_read(self) -> bool:
        return self.target in NOWHERE or (not self.target and bool(self.source))

    def has(self, option: str, *flags: str) -> bool:
        return bool(set(self.words.get(option, "").split(",")) & set(flags))


class CachedFiles:
    """Tracks the files that are still in the page cache because a command in the text wrote them.

    drop_caches frees only clean pages, so a new file stays in RAM unless it was synced first. A sentence about
    drop_caches does not mention whether there was a sync, so we assume that there was.
    """

    def __init__(self) -> None:
        self._why: dict[str, str] = {}
        self._dirty: set[str] = set()

    def write(self, command: DdCommand) -> None:
        self._why[command.target] = f"dd on line {command.line} wrote this file through the page cache"
        if not (command.has("conv", "fsync", "fdatasync") or command.has("oflag", "sync", "dsync")):
            self._dirty.add(command.target)

    def see(self, line: str) -> None:
        """Record how a line of the text affects the page cache."""
        if not self._why:
            return  # nothing was written yet
        if syncs(line) or (drops_caches(line) and not (drops_clean_pages(line) and _SHELL.search(line))):
            self._dirty.clear()
        if drops_caches(line):
            left = "; the caches were dropped without a sync, so its dirty pages stayed in RAM"
            self._why = {path: why.partition(";")[0] + left for path, why in self._why.items() if path in self._dirty}

    def why(self, path: str) -> str:
        """Return the evidence that a file is cached in RAM, or an empty string if nothing suggests that it is."""
        return self._why.get(path, "")


def dd_commands(line_number: int, line: str) -> Iterator[DdCommand]:
    """Yield the dd commands on a line. Anything after their arguments, such as prose or `; done`, is left out."""
    found = [ARGUMENTS.match(line, match.end()) for match in COMMAND.finditer(line)] if "dd" in line else []
    commands = [arguments for arguments in found if arguments]
    for arguments, later in itertools.zip_longest(commands, commands[1:]):
        words = {name: value.strip("\"'") for name, value in _WORD.findall(arguments[0])}
        if "if" in words or "of" in words:
            text, after = arguments[0].rstrip(".,:"), line[arguments.end() : later.start() if later else None]
            if "of" not in words and (redirect := _REDIRECT.match(after)):
                words["of"] = redirect["path"]
                text, after = text + redirect[0], after[redirect.end() :]
            yield DdCommand(line_number, f"dd {text}", words, after)


def result_of(line: int, figures: Direction, moved: int | None, command: DdCommand, written: str) -> ForeignResult:
    """Return the result of a command.

    `moved`: the number of bytes, or None if unknown. `written`: a clause about an earlier command that wrote the file.
    """
    is_read = command.is_read
    from_nothing = command.source in (*_ZEROS, "/dev/urandom", "/dev/random")
    part = _part(command, moved, is_read=is_read)
    memory = "dd copies from one memory device to another: no disk is involved" if is_read and from_nothing else ""
    outcome = outcome_of("dd", "dd", {"read" if is_read else "write": figures})
    return ForeignResult(
        "dd",
        line,
        line,
        outcome,
        (part,),
        command.text,
        command.line,
        size_bytes=moved,
        just_written=written if is_read and not part.direct else "",
        measures_memory=memory,
    )


def _part(command: DdCommand, moved: int | None, *, is_read: bool) -> LoadPart:
    written = command.words.get("bs") or command.words.get("ibs" if is_read else "obs")
    count = command.words.get("count", "")
    blocks = int(count) if count.isdecimal() and len(count) < _MOST_DIGITS else 0
    block = _size(written) or ((moved or 0) // blocks if written and blocks else 0) or 512
    path = command.source if is_read else command.target
    syncs_each = command.has("oflag", "sync", "dsync")
    # dd prints the time after closing the output, and closing a block device flushes its cache to the disk.
    closes_device = not is_read and _DEVICE.match(path) is not None
    syncs_at_end = command.has("conv", "fsync", "fdatasync") or closes_device
    return LoadPart(
        "dd",
        reads=is_read,
        writes=not is_read,
        block_bytes=block,
        max_block_bytes=block,
        size_bytes=moved,
        is_synchronous=True,
        extents=(Extent(path, 0.0, float(moved or 0)),) if path else (),
        direct=command.has("iflag" if is_read else "oflag", "direct"),
        syncs=syncs_at_end or syncs_each,
        syncs_at_end=syncs_at_end,
        writes_are_synchronous=syncs_each and not is_read,
        zero_buffers=command.source in _ZEROS and not is_read,
        refills_buffers=command.source in ("/dev/urandom", "/dev/random"),
    )


def _size(text: str | None) -> int | None:
    """Parse a size in dd's format (`1M`, `64k`, `1MB`, `4096`). Return None if it is an expression or a variable."""
    match = re.fullmatch(r"(\d{1,12})(?:([kKmMgG])(?:i?B)?)?", text or "")
    return size_in_bytes(f"{match[1]}{match[2] or ''}") if match else None
