"""Values that by definition measure the speed of memory."""

from poolproof.rules.model import Case, Findings, Rule, refutes


def _in_result(case: Case) -> Findings:
    if case.quoted is not None and case.quoted.measures_memory and case.cold:
        yield refutes(f"{case.quoted.measures_memory}. The result says nothing about a disk", weight=96)


RULE = Rule(
    title="A measurement of memory",
    wrong=(
        "Some programs print the speed of memory next to that of the disk. `hdparm -T` (Timing cached reads) "
        "repeatedly reads the same 2 MiB from the page cache. `dd if=/dev/zero of=/dev/null` does not involve a disk "
        "at all."
    ),
    shows="In a text: a `Timing cached reads` line of hdparm, or dd from /dev/zero or /dev/urandom to /dev/null.",
    error="Too high for a disk, because the result is the speed of RAM.",
    fix="measure a file or a device on the disk, without the page cache: with fio or, for reads, with `hdparm -t` "
    "(quote the line `Timing buffered disk reads`)",
    sources=(
        "hdparm(8), -T: the speed of reading directly from the Linux buffer cache without disk access",
        "hdparm-9.65 hdparm.c, time_cache",
    ),
    in_result=_in_result,
    needs="This also needs hdparm.",
    commands='hdparm -tT /dev/$(basename "$(findmnt -nvo SOURCE -T .)"); fio --rw=read --bs=2m --size=256m --direct=1',
)
