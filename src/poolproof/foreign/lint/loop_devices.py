"""Loop devices that a script sets up without direct I/O, and file systems that it mounts from them.

`losetup` and `mount -o loop` use the page cache of the backing file unless losetup is given `--direct-io=on`. Sources:
losetup(8) of util-linux, and drivers/block/loop.c (loop_configure, __loop_update_dio).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import dropwhile, pairwise

from poolproof.foreign.lint.prepared_files import PreparedFile
from poolproof.foreign.lint.shell.shell_words import ShellWord, read_script

COMMAND = "losetup"
"""The `command` of all changes that this module returns."""

_ASSIGNED = re.compile(
    r"(?<![\w$])(?P<name>[A-Za-z_]\w*)=[\"']?(?:\$\(|`)[ ]*(?:sudo[ ]+)?(?:/\S+/)?losetup[ ](?P<options>[^)`\n]*)[)`]"
)
_BRACED = re.compile(r"\$\{(\w+)\}")
_LOOP = re.compile(r"/dev/loop\d+|\$\w+")
_DIRECT = re.compile(r"(?:^|\s)--direct-io(?:[= ](?:on|1|yes))?(?=\s|$)")
_SETS_UP = re.compile(r"(?:^|\s)(?:-\w*f\w*|--find)(?=\s|$)")
_SHOWS = re.compile(r"(?:^|\s)--show\b")
_READS_ONLY = re.compile(r"(?:^|\s)(?:-\w*[rlaj]\w*|--read-only|--list|--all|--associated)(?=\s|$)")
_WITH_VALUE = frozenset({"-t", "-o", "--types", "--options"})
_BEFORE = frozenset({"sudo", "do", "then", "else", "if", "!", "{"})


def cached_loops(text: str, variables: Mapping[str, str]) -> Iterator[PreparedFile]:
    """Yield the devices and mount points whose I/O goes through the page cache of a backing file, in order.

    A device in a variable has the path `$NAME`.
    """
    cached: set[str] = set()
    for each in sorted(_changes(text, variables), key=lambda change: change[0]):
        line, path, source, is_cached = each
        is_loop = is_cached if source is None else source in cached
        if is_loop:
            cached.add(path)
            yield PreparedFile(path, "cached loop", COMMAND, line)
        elif path in cached:
            cached.discard(path)
            yield PreparedFile(path, "removed", COMMAND, line)


_Change = tuple[int, str, str | None, bool]
"""The line, the device or mount point, the device that is mounted there, and whether the page cache is used."""


def _changes(text: str, variables: Mapping[str, str]) -> Iterator[_Change]:
    if "losetup" not in text and "loop" not in text:
        return
    for found in _ASSIGNED.finditer(text):
        options = found["options"]
        if _SETS_UP.search(options) and _SHOWS.search(options) and not _READS_ONLY.search(options):
            yield text.count("\n", 0, found.start()) + 1, f"${found['name']}", None, not _DIRECT.search(options)
    for command in read_script(text, variables).commands:
        words = list(dropwhile(lambda word: word.text in _BEFORE, command))
        yield from _of_command(words) if words else ()


def _of_command(words: Sequence[ShellWord]) -> Iterator[_Change]:
    name, line = words[0].text.rpartition("/")[2], words[0].line
    given = [_BRACED.sub(r"$\1", word.text) for word in words[1:]]
    options = " ".join(given)
    paths = [
        word
        for last, word in zip(["", *given], given, strict=False)
        if not word.startswith("-") and last not in _WITH_VALUE
    ]
    if name == "losetup" and paths and _LOOP.fullmatch(paths[0]) and not _READS_ONLY.search(options):
        if _DIRECT.search(options) or len(paths) > 1 or "-d" in given or "--detach" in given:
            yield line, paths[0], None, len(paths) > 1 and not _DIRECT.search(options)
    elif name == "mount" and len(paths) == 2:
        is_loop = any("loop" in word.split(",") for last, word in pairwise(given) if last == "-o")
        yield line, paths[1], None if is_loop else paths[0], is_loop or "-oloop" in given
    elif name == "umount" and paths:
        yield line, paths[-1], None, False
