"""Recognize the columns of a table of results by their headers, and rows by their names.

A header is recognized only as a whole: `Read IOPS` is a column of results, `Provisioned IOPS` and `IOPS limit` are not.
"""

import functools
import re
from dataclasses import dataclass, replace

from poolproof.foreign.audit.directions import named_order
from poolproof.foreign.audit.tables.table_latencies import TIME_UNIT

_TOKEN = re.compile(
    r"(?P<iops>k?iops?(?:/s(?:ec)?)?(?![a-z])|i/?os?/s(?:ec)?(?![a-z]))"
    r"|(?P<latency>(?:c?lat|latency|latencies)(?![a-z])|延迟|延遲|时延|レイテンシ)"
    rf"|(?P<time>{TIME_UNIT}(?![a-z]))"
    r"|(?P<bandwidth>bw(?![a-z])|bandwidth|throughput|speed(?![a-z])|(?:data|transfer)[ -]?rate(?![a-z])"
    r"|带宽|頻寬|吞吐量?|대역폭|速度|скорость|velocidade?|vitesse|d\u00e9bit|geschwindigkeit|durchsatz|velocit\u00e0)"
    r"|(?P<unit>[kmg]i?b)(?P<per>/(?:s|secs?|seconds?)|ps| per (?:sec|second))?(?![a-z])"
    r"|(?:(?P<before>rand(?:om)?|rnd|seq(?:uential)?|随机|隨機|顺序|順序|순차|무작위|랜덤)[-_ ]?)?"
    r"(?:(?P<read>read(?:s|ing(?![a-z]))?|rd?(?![a-z])|[读讀]取?|읽기|чтени[ея]|lesen(?![a-z])"
    r"|(?:lectura|leitura|lecture|lettura)s?(?![a-z]))"
    r"|(?P<write>writ(?:es?|ing(?![a-z]))|wr?(?![a-z])|[写寫]入?|쓰기|запис[ьи]|schreiben(?![a-z])"
    r"|(?:escritura|escrita|\u00e9criture|scrittura)s?(?![a-z])))"
    r"|(?P<order>rand(?:om)?|rnd|seq(?:uential)?|(?:se[cq]uencial|aleat[o\u00f3]ri[ao])(?:es|s)?(?![a-z])"
    r"|s\u00e9quentielle?s?(?![a-z])|al\u00e9atoires?(?![a-z])|sequenziell?e?(?![a-z])|zuf\u00e4llig(?![a-z])"
    r"|последовательн\w{2,3}|случайн\w{2,3})"
    r"|(?P<size>(?:bs=?)?\d{1,4}[km](?:i?b)?(?![a-z])|(?:qd?|iodepth) ?=?\d{1,4}(?: ?t\d{1,3})?(?![a-z]))"
    r"|(?P<scale>k(?![a-z\d]))"
    r"|(?P<state>(?:(?:cold|warm|hot|no|page|host|os)[ -]){0,2}cached?(?![a-z])|un-?cached|cold|warm|hot|buffered"
    r"|(?:o_)?direct(?![a-z]))"
    r"|(?:avg|average|mean|median|in|fio|measured|binary|decimal|mixed(?=[-_ ](?:read|write)))(?![a-z])",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"[\s()\[\],:=_&+@.-]*+/?[\s()\[\],:=_&+@.-]*+")
_BITS = re.compile(r"\b[KMG]b(?:/s|ps|it)|\b[kmgKMG]bit")
_BLOCK = re.compile(r"^(?:bs|(?:block|i/?o)[-_ ]?size)$", re.IGNORECASE)
_NOT_COMPARED = re.compile(
    r"(?<!\d)%|\b(?:fa[ck]tor|delta|change|diff(?:erence)?|ratio|gain|improvement|speed-?up|verdict|winner|vs|units?|notes?|min|max|std(?:dev)?|p\d\d)\b|^\u0394",
    re.IGNORECASE,
)
_LIMIT = re.compile(r"\b(?:limit|target|goal|spec\w*|rated|expected|quota|required|advertised)\b", re.IGNORECASE)
_NUMBER_OF = r"(?:num_?)?jobs|threads|workers|clients|i/?o[-_ ]?depth|queue[-_ ]?depth|qd|depth"
_SIZE_OF = r"bs|block[-_ ]?size|i/?o[-_ ]?size"
_PARAMETER = re.compile(
    rf"^(?:(?:{_NUMBER_OF}|job|thread|q) ?[=:]? ?\d{{1,4}}|\d{{1,4}} ?(?:jobs?|threads?)"
    rf"|(?:(?:{_SIZE_OF}) ?[=:]? ?)?\d{{1,4}} ?[km](?:i?b)?|(?:{_SIZE_OF}) ?[=:]? ?\d{{3,8}})$",
    re.IGNORECASE,
)
_PARAMETER_NAME = re.compile(rf"^(?:number of )?(?:{_NUMBER_OF}|{_SIZE_OF})$", re.IGNORECASE)
_DESCRIPTION = re.compile(r"^(?:(?:access |i/?o )?patterns?|i/?o type|rw|io_?engine|engine)$", re.IGNORECASE)
_LONGEST = 60


@dataclass(frozen=True)
class TableColumn:
    """A column, or a row of values.

    `kind`: `iops`, `bandwidth`, `pair` (both in one cell), `latency`, `side` (only the direction is named), `block` or
    `name`.
    `direction`: `read`, `write`, `mixed` if the header names none, or an empty string for blocks and names.
    `unit`: the unit of a bandwidth or latency in lower case (`mib`, `us`), or an empty string. A pair has one if its
    IOPS are first.
    `scale`: 1000 for `kIOPS`.
    `test`: the order, the block size, the depth and the state of the cache in the header. Values of different tests are
    different results.
    """

    kind: str
    direction: str = ""
    unit: str = ""
    scale: float = 1.0
    test: str = ""

    @property
    def has_values(self) -> bool:
        """True for columns of IOPS, bandwidth or both."""
        return self.kind in ("iops", "bandwidth", "pair")


NAME = TableColumn("name")


def is_parameter(cell: str) -> bool:
    """True if a cell is a value of a parameter that a table varies: `numjobs=4`, `QD32`, `8 threads`, `64k`."""
    return _PARAMETER.match(cell) is not None


def is_parameter_name(cell: str) -> bool:
    """True if a cell is the name of a parameter that a table varies: `numjobs`, `queue depth`, `block size`."""
    return _PARAMETER_NAME.match(cell) is not None


def is_comparison(header: str) -> bool:
    """True if a column contains comparisons of other columns (`change`, `factor`), or their extremes or units."""
    return _NOT_COMPARED.search(header) is not None


def row_column(label: str) -> TableColumn:
    """Return the column that the label of a row names, which may continue with the target: `write IOPS · node 1`."""
    row = column_of(label)
    metric, mark, target = label.partition(" · ")
    if row != NAME or not mark or _NOT_COMPARED.search(target) or _LIMIT.search(target):
        return row
    named = column_of(metric.strip())
    return replace(named, test=f"{named.test} {target}".strip()) if named.has_values else row


@functools.lru_cache(maxsize=4096)
def column_of(header: str) -> TableColumn:
    """Return the column that a header names. A header with any unknown word is a name."""
    if _BLOCK.match(header):
        return TableColumn("block")
    if not header or len(header) > _LONGEST or _BITS.search(header):
        return NAME
    said: dict[str, str] = {}
    test: list[str] = []
    at = _skip_marks(header, 0)
    while at < len(header):
        token = _TOKEN.match(header, at)
        if token is None:
            return NAME
        named = {name: value for name, value in token.groupdict().items() if value}
        said |= named
        test += [named_order(named[name]) for name in ("before", "order") if name in named]
        test += [named[each].lower() for each in ("size", "state") if each in named]
        at = _skip_marks(header, token.end())
    return replace(_column(said), test=" ".join(test))


def _skip_marks(header: str, at: int) -> int:
    """Return the index of the first character at or after `at` that is neither a space nor a mark between words."""
    marks = _BETWEEN.match(header, at)
    return marks.end() if marks else at


def _column(said: dict[str, str]) -> TableColumn:
    directions = [name for name in ("read", "write") if name in said]
    if len(directions) > 1:
        return NAME
    direction = directions[0] if directions else "mixed"
    unit = said.get("unit", "").lower()
    if "latency" in said and not {"iops", "bandwidth", "unit"} & said.keys():
        return TableColumn("latency", direction, said.get("time", "").lower())
    if "time" in said and "latency" not in said:
        return NAME
    if "iops" in said:
        is_pair = "bandwidth" in said or "per" in said
        scale = 1000.0 if "scale" in said or said["iops"].lower().startswith("k") else 1.0
        is_first = "unit" in said and list(said).index("iops") < list(said).index("unit")
        return (
            TableColumn("pair", direction, unit if is_first else "")
            if is_pair
            else TableColumn("iops", direction, scale=scale)
        )
    if "bandwidth" in said or "per" in said:
        return TableColumn("bandwidth", direction, unit)
    return TableColumn("side", direction) if directions and not unit else NAME


def describes_test(header: str) -> bool:
    """True if a column gives a parameter of each row's test, such as `Block Size`, `Jobs` or `Pattern`."""
    return _PARAMETER_NAME.match(header) is not None or _DESCRIPTION.match(header) is not None
