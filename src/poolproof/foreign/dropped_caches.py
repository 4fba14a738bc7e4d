"""Find the lines on which somebody drops the caches, for use by lint and audit.

All ways to write to drop_caches are recognized (a redirection, tee, sysctl), and so are sentences about it. Writing the
value 2 is ignored, because it frees dentries and inodes but no file data. Commands that only read the file are ignored
too, as are sentences such as "I did not use drop_caches". A line also counts if it mentions an umount, a remount (but
not `-o remount`), a `zpool export`, a reboot or `sudo purge`, because these empty the cache too.
"""

import re

_FREES_CLEAN_PAGES = re.compile(r"\bdrop_caches\b")
_FREES_ONLY_SLAB = re.compile(
    r"\b(?:echo|printf)\s+(?:-\w+\s+)?[\"']?2(?:\\n)?[\"']?\s*(?:>|\|)[^;&]{0,80}drop_caches"
    r"|<<<\s*[\"']?2\b|\bdrop_caches\s?=\s?2\b"
)
_ONLY_READS = re.compile(
    r"\b(?:cat|ls|stat|grep)\s+(?:-\S+\s+)?\S{0,40}drop_caches|\bsysctl\s+(?:-n\s+)?vm\.drop_caches(?!\s?=)"
)
_NEGATED = re.compile(
    r"\b(?:no|not|never|without|cannot|forg[eo]t|instead of)\b[^.;]{0,60}drop_caches|n't\b[^.;]{0,60}drop_caches",
    re.IGNORECASE,
)
_EMPTIES = re.compile(
    r"\bumount\b|\bzpool\s+export\b|(?<!-o )(?<!-o)(?<![,\w])remount(?:ed|ing)?\b|\breboot(?:ed|ing)?\b"
    r"|\bsudo\s+purge\b"
)
_SYNCS = re.compile(r"(?<![\w=/,-])(?:/usr)?(?:/bin/)?sync(?![\w=-])")


def drops_caches(line: str) -> bool:
    """True if the line is a command that drops cached file data, or a sentence about doing so."""
    is_possible = "mount" in line or "export" in line or "reboot" in line or "purge" in line
    return (is_possible and _EMPTIES.search(line) is not None) or drops_clean_pages(line)


def drops_clean_pages(line: str) -> bool:
    """True if the line uses drop_caches, which frees only clean pages and leaves dirty pages in RAM."""
    if "drop_caches" not in line or _FREES_CLEAN_PAGES.search(line) is None:
        return False
    return not any(pattern.search(line) for pattern in (_FREES_ONLY_SLAB, _ONLY_READS, _NEGATED))


def syncs(line: str) -> bool:
    """True if the line runs sync. A comment at the end of the line is ignored."""
    return "sync" in line and _SYNCS.search(line.strip().partition(" #")[0]) is not None
