"""Sizes in KiB. By default, fio takes 1 KiB to mean 1000 bytes."""

import re
from collections.abc import Sequence

from poolproof.load.fio.quantity import kb_base_of, parse_bytes
from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Changes, Finding, Findings, Rule, finding, fio_doc, fio_source

_IEC = re.compile(r"(?i)^(\d+)[kmgtp]ib$")
_SUFFIXED = re.compile(r"(?i)^\d+[kmgtp](?:i?b)?$")
_SIZES = ("bs", "size", "io_size", "filesize", "offset", "offset_increment", "rate")


def _in_job(case: Case) -> Findings:
    for job in case.jobs:
        late = _before_kb_base(job)
        decimal = [name for name in _read_as_1024(job, _IEC) if name not in late]
        if decimal:
            why = "by default, fio reads KiB, MiB and GiB as powers of 1000, and k, m and g as powers of 1024"
            fix = "use the suffixes k, m and g (4k, 1m, 16g), or put kb_base=1000 before the sizes"
            yield _finding(job, decimal, f"{_given(job, decimal)}: {why}", fix)
        if late:
            why = "which fio has already read with k = 1024 and KiB = 1000"
            message = f"kb_base=1000 comes after {_given(job, late)}, {why}"
            yield _finding(job, late, message, "put kb_base=1000 before the sizes")


def _finding(job: LoadPart, names: Sequence[str], message: str, fix: str) -> Finding:
    given = [f"blocks of {job.block_bytes} bytes"] if "bs" in names else []
    given += [f"a size of {job.size_bytes} bytes"] if "size" in names and job.size_bytes else []
    message = f"{message}; this gives {' and '.join(given)}" if given else message
    return finding("suspects" if names[0] == "bs" else "notes", message, weight=35, fix=fix)


def _given(job: LoadPart, names: Sequence[str]) -> str:
    return ", ".join(f"{name}={_text(job, name)}" for name in names)


def _text(job: LoadPart, name: str) -> str:
    return (fio_job(job).text(name) or "").strip()


def _read_as_1024(job: LoadPart, form: re.Pattern[str]) -> list[str]:
    """Return the names of the options whose values match `form` and in which fio takes k to mean 1024."""
    return [name for name in _SIZES if form.match(_text(job, name)) and fio_job(job).kb_base(name) == 1024]


def _before_kb_base(job: LoadPart) -> list[str]:
    """Return the names of the options that come before kb_base=1000, so that k still means 1024 in them.

    Empty if the job does not set kb_base=1000.
    """
    return _read_as_1024(job, _SUFFIXED) if kb_base_of(fio_job(job).options) == 1000 else []


def _fixed_options(_case: Case, job: LoadPart) -> Changes:
    """Return changes that set the intended sizes, with the suffix k, m or g (powers of 1024).

    Sizes that come before kb_base=1000 are written in bytes instead.
    """
    if late := _before_kb_base(job):
        return {name: str(parse_bytes(_text(job, name), 1000)) for name in late}
    return {name: _text(job, name)[:-2].lower() for name in _read_as_1024(job, _IEC)}


RULE = Rule(
    title="KiB means 1000 bytes",
    wrong=(
        "By default, fio takes `4KiB` to mean 4000 bytes and `4k` to mean 4096 bytes. Direct I/O in blocks of 4000 "
        "bytes fails, and for buffered writes of this size, the kernel has to read pages first."
    ),
    shows="In a job: a size that ends in KiB, MiB or GiB, without kb_base=1000. A size with a suffix is also reported "
    "if it comes before kb_base=1000 on a command line, or in the global section above a job that sets kb_base, "
    "because fio parses such a size before it reads kb_base.",
    error="Too high or too low. Sizes are off by 2 to 7%, and blocks are unaligned.",
    fix="write 4k, 1m and 16g, or put kb_base=1000 before the sizes",
    sources=(
        fio_source("3.42", "parse.c", "get_mult_bytes"),
        fio_doc("kb_base"),
    ),
    in_job=_in_job,
    options=_SIZES,
    fixed_options=_fixed_options,
    commands="rm -f trap; fio --rw=write --bs=4k --size=1MiB; stat -c %s trap",
)
