"""ZFS's properties and limits, from text in the formats that zfs-get(8) and the kstats of OpenZFS 2.1 have."""

from poolproof.facts.zfs import parse_arc_max, parse_properties

_PROPERTIES = "type\tfilesystem\nrecordsize\t131072\ncompression\tlz4\nsync\tstandard\nmountpoint\t/tank/a b\n"
_ARCSTATS = """\
13 1 0x01 123 33456 4125843187 9912345678
name                            type data
hits                            4    122
c                               4    262144000
c_min                           4    64772864
c_max                           4    1036365824
size                            4    12345
"""


def test_properties_are_read_with_their_blanks() -> None:
    said = parse_properties(_PROPERTIES)
    assert (said["recordsize"], said["compression"], said["mountpoint"]) == ("131072", "lz4", "/tank/a b")
    assert parse_properties("") == {}


def test_the_limit_of_the_arc() -> None:
    assert parse_arc_max(_ARCSTATS) == 1036365824
    assert parse_arc_max("") is None
