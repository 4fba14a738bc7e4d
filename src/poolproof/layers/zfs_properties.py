"""The properties of pools, datasets and volumes that a layout may set (see zpoolprops(7) and zfsprops(7)).

A layout may not set the properties that poolproof sets itself (mountpoint, altroot, cachefile, keyformat, keylocation
…), or those that cannot be set at creation. poolproof checks a value only if the manual lists all possible values of
the property. zpool checks all other values.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from poolproof.campaign.expression import Option
from poolproof.layers.arguments import check_values, unknown, words
from poolproof.layers.base import StageReader
from poolproof.layers.option_values import POOL_ERRORS, Values, values

POOL = words(
    "ashift autoexpand autoreplace autotrim comment compatibility dedup_table_quota delegation failmode "
    "listsnapshots multihost"
)
_SHARED = words(
    "checksum compression copies dedup logbias primarycache readonly redundant_metadata refreservation reservation "
    "secondarycache snapdev sync prefetch"
)
DATASET = _SHARED | words(
    "aclinherit aclmode acltype atime casesensitivity devices direct dnodesize encryption exec filesystem_limit "
    "longname nbmand normalization overlay quota recordsize refquota relatime setuid sharenfs sharesmb snapdir "
    "snapshot_limit special_small_blocks utf8only version vscan xattr zoned"
)
VOLUME = _SHARED | words("snapshot_limit volblocksize volmode volthreading")

_ON_OFF = words("on off")
_CACHES = words("all none metadata")
_CHECKED: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(words("atime autoexpand autotrim delegation devices exec relatime setuid"), _ON_OFF),
    "copies": words("1 2 3"),
    "encryption": words("off on aes-128-ccm aes-192-ccm aes-256-ccm aes-128-gcm aes-192-gcm aes-256-gcm"),
    "direct": words("standard always disabled"),
    "dnodesize": words("legacy auto 1k 2k 4k 8k 16k"),
    "logbias": words("latency throughput"),
    "prefetch": words("all none metadata"),
    "primarycache": _CACHES,
    "redundant_metadata": words("all most some none"),
    "secondarycache": _CACHES,
    "sync": words("standard always disabled"),
    "volmode": words("default full geom dev none"),
    "xattr": words("on off sa dir"),
}
VALUES: Mapping[str, Values] = MappingProxyType(
    {
        "comment": values(r"[!-~]{1,32}", "up to 32 printable characters"),
        "compatibility": values(
            r"[a-z0-9][\w.+-]*(,[a-z0-9][\w.+-]*)*", "names of feature sets, such as openzfs-2.1-linux"
        ),
        "autoreplace": values("off", "off, because zed would overwrite a new disk in the slot of a disk of the pool"),
        "failmode": POOL_ERRORS,
        "feature@": values("enabled|disabled|local", "enabled or disabled"),
        **dict.fromkeys(("sharenfs", "sharesmb"), values("off", "off, because a run shares nothing over the network")),
        ":": values(r"[^\x00-\x1f\x7f]{0,256}", "text on one line"),
    }
)
"""The properties whose values do not follow `option_values.WORD`. ZFS uses none of these values as a path."""

_PATTERNS: Mapping[str, tuple[str, str]] = {
    "ashift": (r"0|9|1[0-6]", "0 (let ZFS choose) or 9 to 16"),
    "compression": (
        r"on|off|lzjb|lz4|zle|gzip(-[1-9])?|zstd(-([1-9]|1[0-9]))?|zstd-fast(-([1-9]|[1-9]0|100|500|1000))?",
        "on, off, lz4, zstd, zstd-1 to zstd-19, zstd-fast, gzip, zle or lzjb",
    ),
    "recordsize": (r"(?i)512|(1|2|4|8|16|32|64|128|256|512)k|(1|2|4|8|16)m", "a power of 2 from 512 to 16M"),
    "volblocksize": (r"(?i)512|(1|2|4|8|16|32|64|128)k", "a power of 2 from 512 to 128k"),
}


def check_property(reading: StageReader, option: Option, known: frozenset[str]) -> None:
    """Check the name of a property and, if the manual lists all possible values, its value.

    User properties (with a colon) and pool features (`feature@`) are always accepted.

    Raises a CampaignError if the name or the value is invalid.
    """
    if option.key not in known and ":" not in option.key and not option.key.startswith("feature@"):
        raise unknown(reading, option, "ZFS property", known)
    check_values(reading, [option], _CHECKED)
    pattern, expected = _PATTERNS.get(option.key, (".*", ""))
    if not re.fullmatch(pattern, option.value):
        raise reading.mistake(option, f"`{option.value}` is not a valid value for {option.key}; expected {expected}")
