"""The findings that lint reports in addition to those of the rules."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class OwnFinding:
    """A kind of finding. `title`: one line. `wrong`: what is wrong. `fix`: what to do about it."""

    title: str
    wrong: str
    fix: str


OWN_FINDINGS: Mapping[str, OwnFinding] = {
    "destroys-data": OwnFinding(
        "The job overwrites data",
        "The job writes to or trims a block device. Lint reports an error if the device holds data, and a warning if "
        "lint cannot look at the device. Lint also reports a warning if a trace is replayed on a device, or if the job "
        "writes to all files below an existing directory (opendir). fio itself refuses only devices that are mounted.",
        "give `filename` or `directory` a path on a file system, or use a device whose data may be lost",
    ),
    "misread-by-fio": OwnFinding(
        "fio reads something other than intended",
        "fio runs the job, but reads an option differently from what was meant. For example, fio reads `-end-fsync=1` "
        "as `--eta=nd-fsync=1`, so fio does not call fsync.",
        "write the option as shown in the finding",
    ),
    "no-job": OwnFinding(
        "No fio job found",
        "A script does not call fio, or it runs a job file that lint has not read, so its jobs are not checked.",
        "specify the job file, or the command after `--`",
    ),
    "not-text": OwnFinding(
        "Not a text file",
        "The source is not a text file, so fio cannot read jobs from it.",
        "specify a job file or a script",
    ),
    "refused-by-fio": OwnFinding(
        "fio refuses the job",
        "fio stops with an error before it measures anything: it does not accept an option or a value, or a job, an "
        "included file or a size is missing. If fio only ignores a value, lint reports a warning.",
        "correct the option; `fio --cmdhelp=OPTION` explains it",
    ),
    "too-many-calls": OwnFinding(
        "Too many calls of fio",
        "The source calls fio more often, or has more jobs, than lint can check.",
        "split it into several files",
    ),
    "unknown-option": OwnFinding(
        "The option is unknown here",
        "The installed fio, or every fio release that lint knows, lacks the option. Another release or engine may have "
        "it.",
        "check the spelling, and compare with `fio --cmdhelp=all` on the machine that runs the job",
    ),
    "unknown-variable": OwnFinding(
        "The value of a variable is unknown here",
        "An option depends on a variable that lint cannot resolve. Lint then reports only what is wrong for every "
        "value.",
        "in a script, assign the variable one literal value; in a job file, write the value, or set a variable whose "
        "name describes a fio option, such as SIZE or FIO_DEVICE, in poolproof's environment",
    ),
}
"""Keyed by the id that lint prints. These ids are not rules, and other commands do not report them."""
