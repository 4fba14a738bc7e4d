"""Print the tables of the experiments' runs: `python -m benchmarks.experiments 2.1=RUN 2.3=RUN … --write PAGE.md`.

Runs of the same campaign are in one table, with one line per label. In a page, a campaign's table is between `<!--
table: NAME -->` and `<!-- end -->`, together with the command that created it.
"""

import argparse
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from poolproof.presentation.terminal.sections import measured_text
from poolproof.presentation.terminal.words import half_width_text, value_text
from poolproof.results.runs.claim_results import ClaimResult, evaluate
from poolproof.results.runs.loading import LoadedRun, load_run
from poolproof.results.runs.shares import LeafShare
from poolproof.results.runs.summary import Cell

_NONE = "–"


@dataclass(frozen=True)
class Labelled:
    """A run with the results of its claims, and the label of its columns in the table."""

    label: str
    run: LoadedRun
    claims: tuple[ClaimResult, ...]


def labelled(text: str) -> Labelled:
    """Parse a label and a run, such as `2.1=runs/mirror-reads-20261121-1930`.

    Raises:
        RunError: the run does not exist.
        ValueError: the label is missing.
    """
    label, _, path = text.partition("=")
    if not path:
        raise ValueError(f"{text}: write LABEL=RUN")
    run = load_run(Path(path))
    return Labelled(label, run, evaluate(run.campaign.expect, tuple(run.cells)))


def page_with(text: str, tables: dict[str, str]) -> str:
    """Return the page with the tables inserted. A table without a new version stays unchanged."""

    def filled(match: re.Match[str]) -> str:
        name = match[1]
        return f"<!-- table: {name} -->\n\n{tables[name]}\n\n<!-- end -->" if name in tables else match[0]

    return re.sub(r"<!-- table: (\S+) -->.*?<!-- end -->", filled, text, flags=re.DOTALL)


def tables_of(runs: Sequence[Labelled]) -> dict[str, str]:
    """Return the tables with the results and the claims, keyed by campaign."""
    names = dict.fromkeys(each.run.campaign.name for each in runs)
    by_name = {name: [each for each in runs if each.run.campaign.name == name] for name in names}
    return {name: "\n\n".join(_blocks(group)) for name, group in by_name.items()}


def _blocks(runs: Sequence[Labelled]) -> Iterator[str]:
    yield "\n".join(_cells_table(runs))
    if any(each.claims for each in runs):
        yield "\n".join(_claims_table(runs))


def _cells_table(runs: Sequence[Labelled]) -> Iterator[str]:
    yield from _head(["layout", "workload", "OpenZFS", "result", "verdict", "disks for fio", "shares"])
    for place in dict.fromkeys(cell.key for each in runs for cell in each.run.cells):
        for each in runs:
            if (cell := each.run.by_key.get(place)) is not None:
                parts = (_figure(cell), _verdict(cell), _ratio(cell), _shares(cell))
                yield _row([cell.layout, f"`{cell.workload}`", each.label, *parts])


def _figure(cell: Cell) -> str:
    if cell.figure is None:
        return _NONE
    half = half_width_text(cell.figure)
    text = f"{value_text(cell.figure.mean, cell.metric)}{f' ± {half}' if half else ''}"
    return f"({text})" if cell.verdict == "refuted" else text


def _verdict(cell: Cell) -> str:
    """Return the verdict. If it is not `sound`, add the rule with the most serious finding on the cell's metric."""
    rules = [found.rule for found in cell.findings if found.is_about(cell.metric)]
    return cell.verdict if cell.verdict == "sound" or not rules else f"{cell.verdict}: {rules[0]}"


def _ratio(cell: Cell) -> str:
    """Return the bytes that the disks moved divided by the bytes expected, for reads and writes separately."""
    found = cell.account
    if found is None:
        return _NONE
    wanted = found.fio_write_bytes * found.write_factor
    parts = [("read", found.leaf_read_bytes, found.fio_read_bytes), ("write", found.leaf_write_bytes, wanted)]
    return ", ".join(f"{verb} {moved / asked:.2f}" for verb, moved, asked in parts if asked) or _NONE


def _shares(cell: Cell) -> str:
    if len(cell.leaves) < 2 or cell.account is None:
        return _NONE
    reads = bool(cell.account.fio_read_bytes)
    moved = ", ".join(_share(leaf, reads=reads) for leaf in cell.leaves)
    stored = [f"{leaf.device} {leaf.stored_share:.0%}" for leaf in cell.leaves if leaf.stored_share is not None]
    return f"{moved}; stored {', '.join(stored)}" if stored and not reads else moved


def _share(leaf: LeafShare, *, reads: bool) -> str:
    share = leaf.read_share if reads else leaf.write_share
    return f"{leaf.device} {_NONE if share is None else f'{share:.0%}'}"


def _claims_table(runs: Sequence[Labelled]) -> Iterator[str]:
    yield from _head(["claim", "source", "expected", *(each.label for each in runs)])
    claims = {held.claim.text: held.claim for each in runs for held in each.claims}
    for text, claim in claims.items():
        yield _row([claim.claim, claim.source, f"`{text}`", *(_held(each.claims, text) for each in runs)])


def _held(claims: Iterable[ClaimResult], text: str) -> str:
    for held in claims:
        if held.claim.text == text:
            said = measured_text(held)
            return f"**{held.result}**: {said}" if said else f"**{held.result}**"
    return _NONE


def _head(names: Sequence[str]) -> Iterator[str]:
    yield _row(names)
    yield f"|{'---|' * len(names)}"


def _row(parts: Iterable[str]) -> str:
    return f"| {' | '.join(part.replace('|', chr(92) + '|') for part in parts)} |"


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=labelled, metavar="LABEL=RUN")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the tables into this page")
    asked = parser.parse_args()
    tables = tables_of(asked.runs)
    if asked.write is None:
        print("\n\n".join(f"{name}\n\n{table}" for name, table in tables.items()))
    else:
        asked.write.write_text(page_with(asked.write.read_text(encoding="utf-8"), tables), encoding="utf-8")


if __name__ == "__main__":
    _main()
