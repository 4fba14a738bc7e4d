"""Names cut to the cells of a terminal. Those that a matrix made differ at their ends: those stay."""

from rich.cells import cell_len, chop_cells, set_cell_size

_NARROWEST_WITH_END = 8
_FEWEST = 12


def cut(name: str, width: int) -> str:
    """The name in at most so many cells: `a-rather-long-…[bs=4k]`."""
    if cell_len(name) <= width:
        return name
    if width < _NARROWEST_WITH_END:
        return set_cell_size(name, max(0, width - 1)) + "…" if width > 0 else ""
    end = chop_cells(name[::-1], (width - 1) // 2)[0][::-1]
    return set_cell_size(name, width - 1 - cell_len(end)) + "…" + end


def place(layout: str, workload: str, number: int, width: int) -> str:
    """A trial by its names, in about half of a line that is so wide: what is said of it needs the rest."""
    each = max(_FEWEST, width // 4)
    return f"{cut(layout, each)} · {cut(workload, each)} #{number}"
