"""Names that the kernel keeps while a layout stands: pools, mappings, arrays, volume groups. Each bears its run."""

import hashlib

from poolproof.devices.model import Site

_DIGITS = 8


def kernel_name(site: Site, name: str, *, longest: int) -> str:
    """`poolproof-LABEL-NAME`, unique to the run; a name that is too long gives way to digits made of it."""
    whole = f"poolproof-{site.label}-{name}"
    if len(whole) <= longest:
        return whole
    return f"poolproof-{site.label}-{hashlib.sha256(name.encode()).hexdigest()[:_DIGITS]}"
