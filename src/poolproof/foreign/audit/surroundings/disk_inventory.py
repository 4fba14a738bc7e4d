"""Tables that list pools, arrays or machines with the kind of their disks: `| tank | HDD | 3x mirror (6 drives) |`.

A result is on one of them if the name of its test or a part of its path is the name in such a table.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from poolproof.foreign.audit.surroundings.named_disks import NamedDisks, named_disks
from poolproof.foreign.audit.tables.table_layout import cells_of, is_rule, separator_of
from poolproof.foreign.audit.tables.table_lines import with_joined_cells
from poolproof.foreign.audit.tables.table_stacked_cells import with_stacked_rows
from poolproof.load.fio.pairing import FoundResult
from poolproof.load.fio.plain_lines import Line
from poolproof.rules.fio_job import fio_job, is_fio_job

_NAMES = re.compile(
    r"^(?:(?:zfs )?pools?|arrays?|volumes?|hosts?|nodes?|servers?|datasets?|mount(?:[ -]?points?)?|storages?|targets?|"
    r"backends?|tiers?|(?:storage )?class(?:es)?|systems?|paths?|setups?|configs?|names?)$",
    re.IGNORECASE,
)
_NAME = re.compile(r"^/?(?=[\w./-]*[A-Za-z])[\w.-]{2,30}(?:/[\w.-]{1,30}){0,5}$")
_PARTS = re.compile(r"[^\w.-]+")
_FEWEST_CELLS, _LONGEST_LINE = 2, 400


def find_inventory(numbered: Sequence[Line], results: Sequence[FoundResult]) -> dict[str, NamedDisks | None]:
    """Return the disks of each name in such tables, or None if a row mentions flash or two rows differ."""
    hidden = {line for result in results for line in range(result.line, result.last_line + 1)}
    found: dict[str, NamedDisks | None] = {}
    is_list = False
    numbered = with_stacked_rows(with_joined_cells(numbered))
    for at, (number, line) in enumerate(numbered):
        if "|" not in line or len(line) > _LONGEST_LINE or separator_of(line) != "|":
            is_list = False
            continue
        if is_rule(line) or number in hidden:
            continue
        cells = cells_of(line, "|")
        if at + 1 < len(numbered) and "-" in numbered[at + 1][1] and is_rule(numbered[at + 1][1]):
            is_list = len(cells) >= _FEWEST_CELLS and _NAMES.match(cells[0]) is not None
        elif is_list and _NAME.match(cells[0]) and (disks := named_disks(number, line)):
            name = cells[0].lower().strip("/")
            found[name] = disks if disks.words and name not in found else None
    return found


def listed_disks(
    inventory: Mapping[str, NamedDisks | None], result: FoundResult, nearest: NamedDisks | None
) -> NamedDisks | None:
    """Return the disks of the only name in the inventory that the result mentions.

    If it mentions none, return the given disks of the nearest line, unless this line is in the inventory.
    """
    if not inventory:
        return nearest
    names = {name for name in inventory if any(f" {name} " in said for said in _said(result))}
    if names:
        return inventory[names.pop()] if len(names) == 1 else None
    is_listed = any(disks and nearest and disks.words == nearest.words for disks in inventory.values())
    return None if is_listed else nearest


def _said(result: FoundResult) -> Iterable[str]:
    """Yield the name of each part of a result and the paths of its jobs in lower case, with one space between words."""
    for part in result.result.parts:
        yield f" {_PARTS.sub(' ', part.name.lower())} "
    for job in result.made.load.parts if result.made else ():
        paths = (*fio_job(job).filenames, *fio_job(job).directories) if is_fio_job(job) else ()
        for path in paths:
            yield f" {' '.join(filter(None, path.lower().split('/')))} "
