"""The campaign that an imported run stands for: its layouts by name, its workloads with what varies in them."""

from collections.abc import Iterator, Mapping, Sequence

from poolproof.campaign.names import slug
from poolproof.campaign.workload import MOST_CELLS
from poolproof.campaign.write import scalar
from poolproof.foreign.importing.cells import FAMILY, ImportedRecord
from poolproof.metrics import MetricId


def campaign_text(name: str, placed: Sequence[ImportedRecord], metrics: Mapping[str, MetricId]) -> str:
    """The YAML text. Where files gave it, nothing can be built again: every layout is a directory of that name."""
    lines = [f"name: {scalar(slug(name) or 'imported')}", "layouts:"]
    for layout in dict.fromkeys(each.layout for each in placed):
        lines.append(f"  {scalar(layout)}: dir imported/{layout}")
    lines += ["workloads:", f"  {FAMILY}: {{{', '.join(_options(placed, metrics))}}}", "measure: {trials: 1}"]
    return "\n".join(lines) + "\n"


def _options(placed: Sequence[ImportedRecord], metrics: Mapping[str, MetricId]) -> Iterator[str]:
    """What varies, as lists; left out where the lists would multiply to more than a campaign may have."""
    values: dict[str, list[str]] = {}
    for each in placed:
        for axis, value in each.varies:
            seen = values.setdefault(axis, [])
            seen += [value] if value not in seen else []
    product = 1
    for found in values.values():
        product *= len(found)
    for axis, found in values.items() if product <= MOST_CELLS else ():
        yield f"{axis}: [{', '.join(map(scalar, found))}]"
    kinds = set(metrics.values())
    if len(kinds) == 1:
        yield f"metric: {kinds.pop()}"
    elif not values or product > MOST_CELLS:
        yield "rw: read"
