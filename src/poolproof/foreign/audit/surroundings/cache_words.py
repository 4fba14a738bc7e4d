"""Words in headings, columns and names of results that say that the data is read from RAM.

Examples are `Random read (host page cache warm)`, `cached reads`, `from page cache` and `warm`. Words about a cache on
a disk, about both states of a cache, or about a cache that was dropped do not count.
"""

import re

_KIND = r"(?:(?:host|guest|os|kernel|linux|server|client|file ?system|fs|page|buffer|ram|memory|zfs|vm)[ -]?){0,3}"
_CACHED = re.compile(
    rf"(?<![\w-])(?:{_KIND}cached(?![\w-])"
    rf"|(?:from|in|via|through|out of|hits?|hitting|served by) (?:the |a )?(?:warm |hot )?{_KIND}(?:cache|arc)(?![\w-])"
    r"|reads? from (?:the )?(?:ram|memory)(?![\w-])"
    rf"|(?:warm(?:ed)?|hot|primed|populated)[ -](?:{_KIND}(?:caches?|arc)|run|pass|reads?)(?![\w-])"
    rf"|{_KIND}(?:caches?|arc)(?: is| was)?[ :=(,-]{{1,3}}(?:is )?(?:warm(?:ed)?|hot|primed|populated)(?![\w-]))",
    re.IGNORECASE,
)
_OTHER = re.compile(
    r"\b(?:bcache|\w*cache(?:fs|d?isk)|lvm\w*|dm-cache|l2arc|ssd|nvme|flash|not?|non|or|vs\.?|versus|un-?cached|without"
    r"|timing|o_direct|direct|cold|drop\w*|clear\w*|flush\w*|evict\w*|bypass\w*|avoid\w*|before|after|first|warm-?up|warming"
    r"|cached? (?:drives?|devices?|tiers?|pools?|disks?|volumes?|miss\w*|size|lines?|modes?|vdevs?))\b"
    r"|\bcached (?:and|&|\+|/)",
    re.IGNORECASE,
)
_WARM = re.compile(
    r"(?<![\w-])(?:(?:warm|hot)(?![ -]?(?:up|spares?|plug|swap|data|tier|storage|standby)\b)|page ?cache)(?!\w)",
    re.IGNORECASE,
)

_UNCACHED = re.compile(r"\b(?:cold|un-?cached|non-?cached|no[- ]cache|o_direct|direct|dropped)\b", re.IGNORECASE)

_HOST_CACHED = re.compile(r"\bcache ?[=:] ?[\"'`]?(?:write[- ]?(?:back|through)|unsafe)\b", re.IGNORECASE)


def says_cached(words: str) -> bool:
    """True if a heading says that the data is read from RAM."""
    return _CACHED.search(words) is not None and _OTHER.search(words) is None


def names_cached(name: str) -> bool:
    """True if the name of a result, such as the row and the column of a table, says that the data is read from RAM."""
    return says_cached(name) or (_WARM.search(name) is not None and _OTHER.search(name) is None)


def names_uncached(name: str) -> bool:
    """True if the name of a result says that the data is not read from a cache: `cold`, `direct`, `uncached`."""
    return _UNCACHED.search(name) is not None


def names_host_cache(words: str) -> bool:
    """True if a heading or a name says that a virtual disk uses the page cache of the host: `cache=writeback`."""
    return _HOST_CACHED.search(words) is not None
