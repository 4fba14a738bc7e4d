"""The queue depth that a text gives for a result whose job is unknown, such as a row of a table."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from poolproof.load.fio.commandline import Command
from poolproof.load.fio.load import load_of
from poolproof.load.fio.pairing import FoundResult
from poolproof.rules.quoted import Quoted

_IN_NAME = re.compile(
    r"(?<![a-z])(?:qd|(?:io|queue)[-_ ]?depth|depth)[-_= ]{0,2}(?P<depth>\d{1,5})(?![\d.])"
    r"|(?<![a-z])q(?P<queue>\d{1,5})t\d",
    re.IGNORECASE,
)
_MIXED = re.compile(r"rand?rw|\brw\b|mixed|r/w|混合|\d{2}[:/]\d{2}|\d ?%|sync|rate", re.IGNORECASE)


def with_stated_depths(
    facts: Sequence[Quoted], results: Sequence[FoundResult], commands: Sequence[Command]
) -> Sequence[Quoted]:
    """Return the facts of each result, with the queue depth that the text gives for it."""
    jobs = [part for command in commands for part in load_of(command.jobs).parts]
    if any(job.rate_limited or job.thinks or job.syncs for job in jobs):
        return facts
    options = [value for command in commands for job in command.jobs for value in job.options.values()]
    depths = {job.depth for job in jobs} if not any("$" in value for value in options) else set[int]()
    stated = (depths.pop(), f"the jobs in the text (line {commands[0].line}) have") if len(depths) == 1 else (0, "")
    return [
        quoted if found.made is not None else replace(quoted, stated_depth=_depth_of(found, quoted.depths, stated))
        for quoted, found in zip(facts, results, strict=True)
    ]


def _depth_of(found: FoundResult, depths: Mapping[int, str], of_jobs: tuple[int, str]) -> tuple[int, str]:
    """Return the queue depth of a result and a clause that says where it is stated, or 0 and an empty string.

    The result's own name takes precedence over the only depth in the sentences near it, and those over the depth of all
    jobs in the text. Results of mixed I/O are left out.

    `depths`: the depths in the sentences near the result, with their quotations.
    """
    names = {part.name for part in found.result.parts}
    name = names.pop() if len(names) == 1 else ""
    if _MIXED.search(name):
        return 0, ""
    if in_name := {int(match["depth"] or match["queue"]) for match in _IN_NAME.finditer(name)}:
        return (in_name.pop(), f"the name of the result, “{name}”, gives") if len(in_name) == 1 else (0, "")
    if len(depths) == 1:
        depth, words = next(iter(depths.items()))
        return depth, f"{words}, which gives"
    return (0, "") if depths else of_jobs
