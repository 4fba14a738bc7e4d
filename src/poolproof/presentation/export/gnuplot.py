"""Data files for gnuplot and the scripts that plot them: the plots of the cache-and-log benchmark, with intervals.

The first six columns are those of that benchmark: `config bs read-iops write-iops read-bw write-bw`.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from poolproof.presentation.charts.theme import SERIES
from poolproof.presentation.export.panels import Panel, block_size, panels_of
from poolproof.presentation.export.rows import ExportRow, ExportTable
from poolproof.statistics.intervals import Interval

_MIB = 1024**2
_KINDS = (("iops", "iops", 1.0), ("bw_MiB/s", "bandwidth_bytes_per_s", 1.0 / _MIB))
_DIRECTIONS = ("read", "write")
_FIGURES = [
    (f"{way}-{short}", f"{way}_{column}", scale) for short, column, scale in _KINDS for way in _DIRECTIONS
]  # fmt: skip
_POINTS = (7, 5, 9, 13, 11, 15)
"""gnuplot's numbers for filled points of distinct shapes; the hollow point of each shape has the number before it."""
_PLOTS = (("iops", "IOPS", 0), ("bandwidth-mebibytes", "MiB/s", 2))
_FIRST_FIGURE, _FIRST_BOUND = 3, 7
_BYTES_COLUMN = _FIRST_BOUND + 2 * len(_FIGURES)
_SETTLED_COLUMN = _BYTES_COLUMN + 3
_UNKNOWN = "NaN"


def dat_files(table: ExportTable) -> dict[PurePosixPath, str]:
    """Return the text of each file by its path, such as `sync/randread/randread-sync.dat`, and of its `.gnuplot`."""
    files = {}
    for panel in panels_of(table.rows):
        files[panel.folder / f"{panel.name}.dat"] = _data(panel, table)
        files[panel.folder / f"{panel.name}.gnuplot"] = _script(panel)
    return files


def _data(panel: Panel, table: ExportTable) -> str:
    """Return one block for each layout. A result that does not count is `NaN`; a comment gives the reason.

    If a result did not converge, a comment gives the reason as well.
    """
    bounds = [f"{name}-{bound}" for name, _, _ in _FIGURES for bound in ("low", "high")]
    header = ["config", "bs", *(name for name, _, _ in _FIGURES), *bounds, "bs_bytes", "trials", "verdict"]
    header += ["settled"] * table.is_settling + ["limit-share"] * table.has_limits
    lines = [[line for row in rows for line in _lines(row, table)] for rows in panel.lines.values()]
    blocks = ["\n".join(block) for block in lines]
    return f"# {chr(9).join(header)}\n\n" + "\n\n\n".join(blocks) + "\n"


def _lines(row: ExportRow, table: ExportTable) -> Iterator[str]:
    if not row.counts:
        why = "; ".join(f"{finding.rule}: {finding.message}" for finding in row.reasons)
        yield f"# {row.verdict}: {_one_line(row.layout)} {block_size(row)}: {_one_line(why)}"
    elif row.settled is False:
        why = "; ".join(f"{reason.name}: {reason.sentence}" for reason in row.unsettled)
        yield f"# unsettled: {_one_line(row.layout)} {block_size(row)}: {_one_line(why)}"
    intervals = [(row.figures.get(column), scale) for _, column, scale in _FIGURES]
    fields = [_text(row.layout), block_size(row), *(_mean(*each) for each in intervals)]
    fields += [text for each in intervals for text in _bounds(*each)]
    fields += [str(row.part.block_bytes), str(row.trials), row.verdict]
    if table.is_settling:
        fields.append(_UNKNOWN if row.settled is None else str(row.settled).lower())
    if table.has_limits:
        fields.append(_UNKNOWN if row.limit_share is None else _number(row.limit_share))
    yield "\t".join(fields)


def _mean(interval: Interval | None, scale: float) -> str:
    return _UNKNOWN if interval is None else _number(interval.mean * scale)


def _bounds(interval: Interval | None, scale: float) -> tuple[str, str]:
    """Return the ends of the interval. A single trial has none, so its bar has no length."""
    if interval is None:
        return (_UNKNOWN, _UNKNOWN)
    low = interval.mean if interval.low is None else interval.low
    high = interval.mean if interval.high is None else interval.high
    return (_number(low * scale), _number(high * scale))


def _number(value: float) -> str:
    return f"{value:.10g}"


def _script(panel: Panel) -> str:
    sizes = {row.part.block_bytes: block_size(row) for row in panel.rows}
    tics = ", ".join(f"{_quoted(text)} {size}" for size, text in sorted(sizes.items()))
    lines = [
        f"# gnuplot {panel.name}.gnuplot",
        'set datafile separator "\\t"',
        "set terminal pngcairo noenhanced size 1000,600 font 'sans,11' linewidth 1.5",
        "set logscale x 2",
        f"set xrange [{min(sizes) * 0.8:g}:{max(sizes) * 1.25:g}]",
        f"set xtics ({tics})",
        "set xlabel 'block size'",
        "set yrange [0:*]",
        "set grid ytics linetype 1 linecolor rgb '#dddddd' linewidth 0.7",
        "set border 3",
        "set tics nomirror",
        "set key outside right top",
    ]
    return "\n".join([*lines, *(line for plot in _plots(panel) for line in plot)]) + "\n"


def _plots(panel: Panel) -> Iterator[list[str]]:
    for kind, unit, first in _PLOTS:
        for way in panel.directions:
            at = first + _DIRECTIONS.index(way)
            parts = list(_parts(panel, at))
            if not parts:
                yield [f"\n# {kind} {way}: no result counts"]
                continue
            yield [
                f"\nset output {_quoted(f'{panel.name}-{kind}-{way}.png')}",
                f"set title {_title(panel, kind, way)}",
                f"set ylabel {_quoted(unit)}",
                "plot \\\n    " + ", \\\n    ".join(parts),
            ]


def _title(panel: Panel, kind: str, way: str) -> str:
    """Return the benchmark's own title, and how many points are left out or hollow."""
    title = _quoted(f"{panel.mode} {panel.sync} {kind} {way}")
    left_out = Counter(row.verdict for row in panel.rows if not row.counts)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in left_out.items())
    unsettled = sum(_is_hollow(row) for row in panel.rows)
    notes = [f"left out: {counts}"] if counts else []
    notes += [f"hollow: {unsettled} unsettled"] if unsettled else []
    return f'{title}."\\n".{_quoted("; ".join(notes))}' if notes else title


def _parts(panel: Panel, at: int) -> Iterator[str]:
    """Yield a line for each layout with a result that counts, and hollow points for results that did not converge."""
    column = _FIGURES[at][1]
    low = _FIRST_BOUND + 2 * at
    plain = f"{_FIRST_FIGURE + at}"
    unsettled = f"strcol({_SETTLED_COLUMN}) eq 'false'"
    for index, (layout, rows) in enumerate(panel.lines.items()):
        if any(column in row.figures for row in rows):
            file = _quoted(f"{panel.name}.dat")
            title = _quoted(_one_line(layout))
            hollow = any(map(_is_hollow, rows))
            value = f"({unsettled} ? NaN : ${plain})" if hollow else plain
            using = f"{_BYTES_COLUMN}:{value}:{low}:{low + 1}"
            yield f"{file} index {index} using {using} with yerrorlines {_style(index)} title {title}"
            if hollow:
                using = f"{_BYTES_COLUMN}:({unsettled} ? ${plain} : NaN)"
                yield f"{file} index {index} using {using} with points {_style(index, hollow=True)} notitle"


def _is_hollow(row: ExportRow) -> bool:
    return row.counts and row.settled is False


def _style(index: int, *, hollow: bool = False) -> str:
    """Return the report's colours; when they run out, they repeat with another dash pattern and other point shapes."""
    colour, round_ = SERIES[index % len(SERIES)], index // len(SERIES)
    point = _POINTS[index % len(_POINTS)] - hollow
    dash = "" if hollow else f" dashtype {round_ + 1}"
    return f"linecolor rgb '{colour}'{dash} pointtype {point}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _text(name: str) -> str:
    """Return a name as a field, quoted if gnuplot would read it as a comment or as several fields."""
    plain = _one_line(name)
    return plain if plain and not set(plain) & set('"#\\') else '"' + plain.replace('"', "''").replace("\\", "/") + '"'


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
