"""fio reads KiB as 1000 bytes by default."""

import re
from collections.abc import Iterable, Sequence

from poolproof.load.fio.quantity import kb_base_of, parse_bytes
from poolproof.load.model import LoadPart
from poolproof.rules.fio_job import fio_job
from poolproof.rules.model import Case, Changes, Effect, Finding, Rule
from poolproof.rules.reproduction import script

_IEC = re.compile(r"(?i)^(\d+)[kmgtp]ib$")
_SUFFIXED = re.compile(r"(?i)^\d+[kmgtp](?:i?b)?$")
_SIZES = ("bs", "size", "io_size", "filesize", "offset", "offset_increment", "rate")


def _in_job(case: Case) -> Iterable[Finding]:
    for job in case.load.parts:
        late = _before_kb_base(job)
        odd = [
            f"{name}={text}" for name, text in _sizes(job) if _IEC.match(text) and fio_job(job).kb_base(name) == 1024
        ]
        odd = [each for each in odd if each not in late]
        if odd:
            why = "by default fio reads KiB, MiB and GiB as powers of 1000, and k, m, g as powers of 1024"
            mend = "write k, m, g (4k, 1m, 16g), or kb_base=1000 before the sizes"
            yield _finding(job, odd, f"{', '.join(odd)}: {why}", mend)
        if late:
            why = "which fio has already read with k = 1024 and KiB = 1000"
            said = f"kb_base=1000 comes after {', '.join(late)}, {why}"
            yield _finding(job, late, said, "put kb_base=1000 before the sizes")


def _finding(job: LoadPart, sizes: Sequence[str], said: str, mend: str) -> Finding:
    message = f"{said}; this gives {_given(job)}"
    return Finding(rule="kib-means-1000", effect=_effect(sizes), message=message, fix=mend, weight=35)


def _sizes(job: LoadPart) -> list[tuple[str, str]]:
    return [(name, text) for name in _SIZES if (text := (fio_job(job).text(name) or "").strip())]


def _before_kb_base(job: LoadPart) -> list[str]:
    """Return the sizes that come before kb_base=1000, so it does not apply to them."""
    if kb_base_of(fio_job(job).options) != 1000:
        return []
    return [
        f"{name}={text}" for name, text in _sizes(job) if _SUFFIXED.match(text) and fio_job(job).kb_base(name) == 1024
    ]


def _effect(sizes: Sequence[str]) -> Effect:
    return "suspects" if sizes[0].startswith("bs=") else "notes"


def _given(job: LoadPart) -> str:
    size = f" and a size of {job.size_bytes} bytes" if job.size_bytes else ""
    return f"blocks of {job.block_bytes} bytes{size}"


def _mended(_case: Case, job: LoadPart) -> Changes:
    """Return the intended sizes: in k, m, g (1024); in bytes if kb_base comes too late to apply."""
    late = _before_kb_base(job)
    if late:
        return {name: str(parse_bytes(text, 1000)) for name, text in _sizes(job) if f"{name}={text}" in late}
    return {
        name: text[:-2].lower() for name, text in _sizes(job) if _IEC.match(text) and fio_job(job).kb_base(name) == 1024
    }


RULE = Rule(
    id="kib-means-1000",
    title="KiB means 1000 bytes",
    wrong="In fio's default mode `4KiB` is 4000 bytes and `4k` is 4096. Blocks of 4000 bytes are not whole sectors: "
    "direct=1 fails, and buffered writes must read first.",
    shows="In a job: a size that ends in KiB, MiB or GiB without kb_base=1000; or a size with a suffix before "
    "kb_base=1000 on a command line, or in the globals above a section that sets it: fio has already read that size.",
    error="Too high or too low; sizes 2 to 7 % off, and unaligned blocks.",
    fix="Write 4k, 1m, 16g; kb_base before the sizes.",
    sources=("https://fio.readthedocs.io/en/latest/fio_doc.html (kb_base)",),
    pitfall_numbers="#33",
    in_job=_in_job,
    options=("bs", "size", "io_size", "filesize", "offset", "offset_increment", "rate"),
    fixed_options=_mended,
    reproduce=script("rm -f trap; fio --name=trap --filename=trap --rw=write --bs=4k --size=1MiB; stat -c %s trap"),
)
