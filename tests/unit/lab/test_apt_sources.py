"""The sources of the image are derived from the machine's apt configuration."""

from pathlib import Path

import pytest

from poolproof.errors import HostError
from poolproof.lab.apt import AptSource, codename_of, configured, for_image, parse_deb822, parse_list

DEB822 = """\
# The stanza of a fresh Debian 12.
Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb-src
URIs: http://mirror.example/sources
Suites: bookworm
Components: main

Enabled: no
Types: deb
URIs: http://mirror.example/off
Suites: bookworm
Components: main

Types: deb
URIs: https://other.example/node
Suites: nodistro
Components: main
Architectures: amd64
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQINBF
 -----END PGP PUBLIC KEY BLOCK-----
"""
ONE_LINE = """\
# deb http://off.example/debian bookworm main
deb http://mirror.example/debian bookworm main contrib  # the stable suite
deb-src http://mirror.example/debian bookworm main
deb [arch=amd64 signed-by=/etc/apt/keyrings/x.gpg] https://mirror.example/debian-security bookworm-security main
"""
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def test_deb822_stanzas_give_one_source_per_uri_and_suite() -> None:
    assert list(parse_deb822(DEB822)) == [
        AptSource("http://mirror.example/debian", "bookworm", ("main",), KEYRING),
        AptSource("http://mirror.example/debian", "bookworm-updates", ("main",), KEYRING),
        AptSource("http://mirror.example/debian-security", "bookworm-security", ("main",), KEYRING),
        AptSource("https://other.example/node", "nodistro", ("main",)),
    ]


def test_each_sources_list_line_gives_one_source() -> None:
    assert list(parse_list(ONE_LINE)) == [
        AptSource("http://mirror.example/debian", "bookworm", ("main", "contrib")),
        AptSource("https://mirror.example/debian-security", "bookworm-security", ("main",), "/etc/apt/keyrings/x.gpg"),
    ]


def test_contrib_and_the_backports_are_added_on_the_configured_mirror() -> None:
    sources = for_image(parse_deb822(DEB822), "bookworm", ("main", "contrib"))
    assert [source.line() for source in sources] == [
        f"deb [signed-by={KEYRING}] http://mirror.example/debian bookworm main contrib",
        f"deb [signed-by={KEYRING}] http://mirror.example/debian bookworm-updates main contrib",
        f"deb [signed-by={KEYRING}] http://mirror.example/debian-security bookworm-security main contrib",
        f"deb [signed-by={KEYRING}] http://mirror.example/debian bookworm-backports main contrib",
    ]


@pytest.mark.parametrize("codename", ["noble", ""])
def test_a_machine_without_the_suite_gets_an_error(codename: str) -> None:
    with pytest.raises(HostError, match="suite"):
        for_image(parse_deb822(DEB822), codename, ("main",))


def test_both_source_formats_are_read(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text(ONE_LINE)
    (tmp_path / "sources.list.d" / "debian.sources").write_text(DEB822)
    (tmp_path / "sources.list.d" / "old.list.save").write_text(ONE_LINE)
    assert len(configured(tmp_path)) == 6
    assert configured(tmp_path / "nowhere") == ()


def test_the_suite_is_taken_from_os_release() -> None:
    assert (
        codename_of('PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_CODENAME=bookworm\nID=debian\n')
        == "bookworm"
    )
    assert codename_of("NAME=Arch\n") == ""
