"""Split the lines of tables into cells: by `|`, by tabs, by commas, by spaces, or one cell for each line."""

import re

_GAP = re.compile(r"\s{2,}")
_AFTER_COMMA = re.compile(r"[,;]\s{2,}")
_MARKS = re.compile(r"^(?:\*{1,3}|_{1,2}|`|~~)(?P<bare>[^*`~].*?)(?:\*{1,3}|_{1,2}|`|~~)$")
_BOLD = re.compile(r"\*\*(?P<bare>[^*]{1,80})\*\*")
_UNIT_AFTER_BLANK = re.compile(r"(?<=\d)\s(?=(?:[kKMGT]i?B(?:/s(?:ecs?)?|ps)|IOPS|[num\u00b5\u03bc]s|%)(?:\s|$|\)))")
_GLUED = "\x00"
_LONGEST = 4000
_BORDERS = {
    code: "-" if chr(code) in "─━═┄┅┈┉╌╍╴╶╸╺╼╾" else "|" if chr(code) in "│┃║┆┇┊┋╎╏╵╷╹╻╽╿" else "+"
    for code in (*range(0x2500, 0x2571), *range(0x2574, 0x2580))
}


def with_ascii_borders(line: str) -> str:
    """Return a line in which `|`, `-` and `+` replace the characters that draw boxes.

    The `+` before a row or a blank line that a diff adds is removed.
    """
    if line.startswith("+") and line[1:].lstrip()[:1] in ("", "|"):
        line = line[1:]
    return line if line.isascii() else line.translate(_BORDERS)


def separator_of(line: str) -> str:
    """Return the character or the kind of gap between the cells of a line: `|`, a tab, `;`, `,` or a space."""
    bare = line.strip().strip("|")
    if "|" in bare or line.count("|") > 1:
        return "|"
    if "\t" in bare:
        return "\t"
    if _GAP.search(_AFTER_COMMA.sub(",", bare)):
        return " "
    return next((mark for mark in ";," if mark in bare), " ")


def cells_of(line: str, separator: str) -> list[str]:
    """Return the cells of a line, without the marks of bold, italic and code."""
    bare = line.strip()
    if separator == "|":
        bare = bare.removeprefix("|").removesuffix("|")
    words = _GAP.split(bare) if separator == " " else bare.split(separator)
    return [without_marks(word) for word in words]


def without_marks(cell: str) -> str:
    """Return a cell without the marks of bold, italic and code around it, and of bold inside it."""
    bare = cell.strip()
    while (match := _MARKS.match(bare)) is not None:
        bare = match["bare"].strip()
    return _BOLD.sub(r"\g<bare>", bare) if "**" in bare else bare


def aligned_cells(line: str, count: int) -> list[str]:
    """Return the cells of a line in which single spaces may separate cells, or an empty list.

    Only the first cell may consist of several words. A unit belongs to the number in front of it.
    """
    words = _UNIT_AFTER_BLANK.sub(_GLUED, line.strip()[:_LONGEST]).split()
    if len(words) < count or count < 2:
        return []
    rest = words[-(count - 1) :]
    return [word.replace(_GLUED, " ") for word in (" ".join(words[: -(count - 1)]), *rest)]


def is_rule(line: str) -> bool:
    """True if a line only separates parts of a table, such as `|---|---|` or `+----+----+`."""
    return not line.strip(" -|:+=\t_")
