"""gnuplot data files and scripts that reproduce the cache-and-log benchmark's plots, with confidence intervals.

The first six columns are the same as in that benchmark: `config bs read-iops write-iops read-bw write-bw`. The plots
are also grouped in the same way: by sync or async, then by access mode.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from poolproof.campaign.emulation import emulation_note
from poolproof.campaign.names import slug, slugs
from poolproof.presentation.charts.theme import SERIES
from poolproof.presentation.export.rows import ExportRow, ExportTable, mode_of, sync_of
from poolproof.presentation.terminal.visible import visible
from poolproof.statistics.intervals import Interval
from poolproof.units import canonical_size

_MIB = 1024**2
_DIRECTIONS = ("read", "write")
_FIGURES = [
    (f"{way}-{short}", f"{way}_{column}", scale)
    for short, column, scale in (("iops", "iops", 1.0), ("bw_MiB/s", "bandwidth_bytes_per_s", 1.0 / _MIB))
    for way in _DIRECTIONS
]
_POINTS = (7, 5, 9, 13, 11, 15)
"""gnuplot's point types for distinct filled shapes. Each number minus 1 is the hollow version of that shape."""
_PLOTS = (("iops", "IOPS", 0), ("bandwidth-mebibytes", "MiB/s", 2))
_FIRST_FIGURE, _FIRST_BOUND = 3, 7
_BYTES_COLUMN = _FIRST_BOUND + 2 * len(_FIGURES)
_SETTLED_COLUMN = _BYTES_COLUMN + 3
_UNKNOWN = "NaN"
_BEFORE = (
    'set datafile separator "\\t"',
    "set terminal pngcairo noenhanced size 1000,600 font 'sans,11' linewidth 1.5",
    "set logscale x 2",
)
_AFTER = (
    "set xlabel 'block size'",
    "set yrange [0:*]",
    "set grid ytics linetype 1 linecolor rgb '#dddddd' linewidth 0.7",
    "set border 3",
    "set tics nomirror",
    "set key outside right top",
)


@dataclass(frozen=True)
class Panel:
    """The rows of one plot: the results of one access mode, either sync or async, against the block size.

    The plot has one line per layout. `rest` distinguishes panels with the same mode, for example `iodepth-4`.
    """

    sync: str
    mode: str
    rest: tuple[str, ...]
    rows: tuple[ExportRow, ...]

    @property
    def name(self) -> str:
        """Return the panel's name: `randread-sync`, or `randread-sync-iodepth-4` if another option also varies."""
        return "-".join((self.mode, self.sync, *self.rest))

    @cached_property
    def lines(self) -> Mapping[str, list[ExportRow]]:
        """Return each layout's rows, sorted by block size."""
        found: dict[str, list[ExportRow]] = {}
        for row in sorted(self.rows, key=lambda row: row.part.block_bytes):
            found.setdefault(row.cell.layout_in_state, []).append(row)
        return {layout: found[layout] for layout in dict.fromkeys(row.cell.layout_in_state for row in self.rows)}


def panels_of(rows: Iterable[ExportRow]) -> tuple[Panel, ...]:
    """Assign each row to a panel, and return the panels in the order of their first rows.

    The name of a panel includes each varying option whose value can't be told from the properties in `_shown`.
    """
    every = tuple(rows)
    families = slugs(map(_family, every))
    options = dict.fromkeys(name for row in every for name in row.settings if name.startswith("workload_"))
    chosen = {name: slugs(row.settings[name] for row in every if name in row.settings) for name in options}
    values: dict[tuple[object, ...], set[str]] = {}
    for row in every:
        for name, value in row.settings.items():
            values.setdefault((name, *_shown(row)), set()).add(value)
    apart = {(name, family) for (name, family, *_), found in values.items() if len(found) > 1}
    panels: dict[tuple[str, str, tuple[str, ...]], list[ExportRow]] = {}
    for row in every:
        rest = [families[_family(row)]] * (len(families) > 1)
        for name, value in row.settings.items():
            if name in chosen and (name, _family(row)) in apart:
                rest.append(f"{slug(name.removeprefix('workload_'))}-{chosen[name][value]}")
        panels.setdefault((sync_of(row.part), mode_of(row.part), tuple(rest)), []).append(row)
    return tuple(Panel(*key, tuple(own)) for key, own in panels.items())


def _family(row: ExportRow) -> str:
    return row.cell.workload.partition("[")[0]


def _shown(row: ExportRow) -> tuple[object, ...]:
    """Return the properties that identify a row in a plot: family, layout, sync or async, mode and block size."""
    return _family(row), row.cell.layout_in_state, sync_of(row.part), mode_of(row.part), _block_size(row)


def _block_size(row: ExportRow) -> str:
    """Format the row's block size, for example as `16k`, or as `4k-64k` if it is a range."""
    sizes = dict.fromkeys(canonical_size(size).lower() for size in (row.part.block_bytes, row.part.max_block_bytes))
    return "-".join(sizes)


def dat_files(table: ExportTable) -> dict[PurePosixPath, str]:
    """Return the contents of all data files and scripts, keyed by path, e.g. `sync/randread/randread-sync.dat`."""
    files = {}
    for panel in panels_of(table.rows):
        path = PurePosixPath(panel.sync) / panel.mode / panel.name
        files[path.with_name(f"{panel.name}.dat")] = visible(_data(panel, table))
        files[path.with_name(f"{panel.name}.gnuplot")] = visible(_script(panel))
    return files


def _data(panel: Panel, table: ExportTable) -> str:
    """Return the contents of a data file, with one block per layout and `NaN` in place of rejected results.

    A comment line precedes a row if it was rejected, did not converge, used emulated disks, or contains a result whose
    verdict differs from the row's.
    """
    bounds = [f"{name}-{bound}" for name, _, _ in _FIGURES for bound in ("low", "high")]
    header = ["config", "bs", *(name for name, _, _ in _FIGURES), *bounds, "bs_bytes", "trials", "verdict"]
    header += ["settled"] * table.is_settling + ["limit-share"] * table.has_limits
    lines = [[line for row in rows for line in _lines(row, table)] for rows in panel.lines.values()]
    blocks = ["\n".join(block) for block in lines]
    return f"# {chr(9).join(header)}\n\n" + "\n\n\n".join(blocks) + "\n"


def _lines(row: ExportRow, table: ExportTable) -> Iterator[str]:
    block_size, why = _block_size(row), ""
    if not row.counts:
        why = f"{row.own.verdict}: " + "; ".join(f"{finding.rule}: {finding.message}" for finding in row.reasons)
    elif row.settled is False:
        why = "not converged: " + "; ".join(f"{reason.name}: {reason.sentence}" for reason in row.not_converged)
    if why:
        kind, _, text = why.partition(": ")
        yield f"# {kind}: {_one_line(row.cell.layout_in_state)} {block_size}: {_one_line(text)}"
    if row.cell.emulated:
        yield f"# emulated: {_one_line(row.cell.layout_in_state)} {block_size}: {emulation_note(row.cell.emulated)}"
    others = [f"{name} {row.other_verdicts[column]}" for name, column, _ in _FIGURES if column in row.other_verdicts]
    if others:
        yield f"# other verdicts: {_one_line(row.cell.layout_in_state)} {block_size}: {', '.join(others)}"
    intervals = [(row.figures.get(column), scale) for _, column, scale in _FIGURES]
    fields = [_text(row.cell.layout_in_state), block_size]
    fields += [_UNKNOWN if interval is None else _number(interval.mean * scale) for interval, scale in intervals]
    fields += [text for each in intervals for text in _bounds(*each)]
    fields += [str(row.part.block_bytes), str(len(row.cell.trials)), row.own.verdict]
    if table.is_settling:
        fields.append(_UNKNOWN if row.settled is None else str(row.settled).lower())
    if table.has_limits:
        fields.append(_UNKNOWN if row.limit_share is None else _number(row.limit_share))
    yield "\t".join(fields)


def _bounds(interval: Interval | None, scale: float) -> tuple[str, str]:
    """Format the bounds of a confidence interval, as `NaN` if the result has none, for example with a single trial."""
    low, high = (interval.low, interval.high) if interval else (None, None)
    return (_UNKNOWN if low is None else _number(low * scale), _UNKNOWN if high is None else _number(high * scale))


def _number(value: float) -> str:
    return f"{value:.10g}"


def _script(panel: Panel) -> str:
    sizes = {row.part.block_bytes: _block_size(row) for row in panel.rows}
    tics = ", ".join(f"{_quoted(text)} {size}" for size, text in sorted(sizes.items()))
    xrange = f"set xrange [{min(sizes) * 0.8:g}:{max(sizes) * 1.25:g}]"
    lines = [f"# gnuplot {panel.name}.gnuplot", *_BEFORE, xrange, f"set xtics ({tics})", *_AFTER]
    return "\n".join([*lines, *_plots(panel)]) + "\n"


def _plots(panel: Panel) -> Iterator[str]:
    part = panel.rows[0].part
    for kind, unit, first in _PLOTS:
        for at, way in enumerate(_DIRECTIONS, start=first):
            if not (part.reads if way == "read" else part.writes):
                continue
            parts = list(_parts(panel, at))
            if not parts:
                yield f"\n# {kind} {way}: no valid result"
                continue
            yield f"\nset output {_quoted(f'{panel.name}-{kind}-{way}.png')}"
            yield f"set title {_title(panel, kind, way)}"
            yield f"set ylabel {_quoted(unit)}"
            yield "plot \\\n    " + ", \\\n    ".join(parts)


def _title(panel: Panel, kind: str, way: str) -> str:
    """Return the cache-and-log benchmark's title, followed by the number of omitted and hollow points, if any."""
    title = _quoted(f"{panel.mode} {panel.sync} {kind} {way}")
    left_out = Counter(row.own.verdict for row in panel.rows if not row.counts)
    not_converged = sum(map(_is_hollow, panel.rows))
    counts = ", ".join(f"{count} {verdict}" for verdict, count in left_out.items())
    notes = [f"left out: {counts}"] if counts else []
    notes += [f"hollow: {not_converged} not converged"] if not_converged else []
    return f'{title}."\\n".{_quoted("; ".join(notes))}' if notes else title


def _parts(panel: Panel, at: int) -> Iterator[str]:
    """Yield gnuplot code that draws a line per layout with valid results, with a bar for each result's interval.

    Results that did not converge are drawn as hollow points.
    """
    column = _FIGURES[at][1]
    low = _FIRST_BOUND + 2 * at
    plain = f"{_FIRST_FIGURE + at}"
    not_converged = f"strcol({_SETTLED_COLUMN}) eq 'false'"
    for index, (layout, rows) in enumerate(panel.lines.items()):
        if any(column in row.figures for row in rows):
            file = _quoted(f"{panel.name}.dat")
            title = _quoted(_one_line(layout))
            hollow = any(map(_is_hollow, rows))
            value = f"({not_converged} ? NaN : ${plain})" if hollow else plain
            place, bounds = f"{file} index {index} using {_BYTES_COLUMN}:{value}", f":{low}:{low + 1}"
            drawn = [row.figures[column] for row in rows if column in row.figures and not _is_hollow(row)]
            bounded = [each for each in drawn if each.low is not None and each.high is not None]
            if len(bounded) == len(drawn):
                yield f"{place}{bounds} with yerrorlines {_style(index)} title {title}"
            else:  # gnuplot draws no point at all if one of its bounds is NaN
                yield f"{place} with linespoints {_style(index)} title {title}"
                yield from [f"{place}{bounds} with yerrorbars {_style(index)} notitle"] * bool(bounded)
            if hollow:
                using = f"{_BYTES_COLUMN}:({not_converged} ? ${plain} : NaN)"
                yield f"{file} index {index} using {using} with points {_style(index, hollow=True)} notitle"


def _is_hollow(row: ExportRow) -> bool:
    return row.counts and row.settled is False


def _style(index: int, *, hollow: bool = False) -> str:
    """Return a layout's line style, with a new dash pattern each time that the report's colours start to repeat."""
    repeats, colour = divmod(index, len(SERIES))
    dash = "" if hollow else f" dashtype {repeats + 1}"
    return f"linecolor rgb '{SERIES[colour]}'{dash} pointtype {_POINTS[index % len(_POINTS)] - hollow}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _text(name: str) -> str:
    """Return a name as a field of a data file, quoted if it is empty or contains gnuplot's special characters."""
    plain = _one_line(name)
    return plain if plain and not set(plain) & set('"#\\') else '"' + plain.replace('"', "''").replace("\\", "/") + '"'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
