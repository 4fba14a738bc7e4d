"""fio's own idea of KiB."""

import re
from collections.abc import Iterable

from poolproof.fio.job import Job
from poolproof.rules.model import Case, Changes, Finding, Rule
from poolproof.rules.reproduction import script

_IEC = re.compile(r"(?i)^(\d+)[kmgtp]ib$")
_SIZES = ("bs", "size", "io_size", "filesize", "offset", "offset_increment", "rate")


def _in_job(case: Case) -> Iterable[Finding]:
    for job in case.job.jobs:
        if (job.text("kb_base") or "").strip() == "1000":
            continue
        odd = [f"{name}={value}" for name in _SIZES if (value := job.text(name)) and _IEC.match(value.strip())]
        if odd:
            yield Finding(
                rule="kib-means-1000",
                effect="suspects" if odd[0].startswith("bs=") else "notes",
                message=f"{', '.join(odd)}: by default fio reads KiB, MiB and GiB as powers of 1000, and k, m, g as "
                f"powers of 1024; this gives blocks of {job.bs_bytes} bytes"
                + (f" and a size of {job.size_bytes} bytes" if job.size_bytes else ""),
                fix="write k, m, g (4k, 1m, 16g), or kb_base=1000 before the sizes",
                weight=35,
            )


def _mended(_case: Case, job: Job) -> Changes:
    """The size that the reader sees: fio's k is 1024."""
    return {name: text[:-2].lower() for name in _SIZES if _IEC.match(text := (job.text(name) or "").strip())}


RULE = Rule(
    id="kib-means-1000",
    title="KiB that are 1000 bytes",
    wrong="In fio's default mode `4KiB` is 4000 bytes and `4k` is 4096. Blocks of 4000 bytes are no whole sectors: "
    "direct=1 fails, buffered writes read first.",
    shows="In a job: a size that ends in KiB, MiB or GiB without kb_base=1000.",
    error="Either way; sizes 2 to 7 % off, and unaligned blocks.",
    mend="Write 4k, 1m, 16g.",
    sources=("https://fio.readthedocs.io/en/latest/fio_doc.html (kb_base)",),
    catalogue="#33",
    in_job=_in_job,
    options=("bs", "size", "io_size", "filesize", "offset", "offset_increment", "rate"),
    mended=_mended,
    reproduce=script("rm -f trap; fio --name=trap --filename=trap --rw=write --bs=4k --size=1MiB; stat -c %s trap"),
)
