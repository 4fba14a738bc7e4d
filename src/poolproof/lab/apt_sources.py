"""The machine's own apt configuration, and what the lab's image takes from it: no mirror is named in this code."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from poolproof.errors import HostError

ETC_APT = Path("/etc/apt")

_LINE = re.compile(r"deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)\s+(?P<components>\S.*)")
_NEEDED = ("main", "contrib")  # zfs-dkms is in contrib
_BACKPORTS = "-backports"
_BESIDE = ("", "-updates", "-security")


@dataclass(frozen=True)
class AptSource:
    """One archive in one suite. `signed_by`: a keyring file, or empty where apt's own keys hold."""

    uri: str
    suite: str
    components: tuple[str, ...]
    signed_by: str = ""

    def line(self) -> str:
        """The source as a line of sources.list(5)."""
        options = f"[signed-by={self.signed_by}] " if self.signed_by else ""
        return f"deb {options}{self.uri} {self.suite} {' '.join(self.components)}"


def configured(etc_apt: Path = ETC_APT) -> tuple[AptSource, ...]:
    """Every binary source in sources.list and sources.list.d, in apt's order; files that can't be read are left out."""
    parts = sorted((etc_apt / "sources.list.d").glob("*"))
    files = [etc_apt / "sources.list", *(path for path in parts if path.suffix in (".list", ".sources"))]
    return tuple(source for path in files for source in _read(path))


def parse_list(text: str) -> Iterator[AptSource]:
    """The sources in the one-line format."""
    for line in text.splitlines():
        match = _LINE.fullmatch(line.partition("#")[0].strip())
        if match:
            yield AptSource(
                match["uri"],
                match["suite"],
                tuple(match["components"].split()),
                _option(match["options"] or "", "signed-by"),
            )


def parse_deb822(text: str) -> Iterator[AptSource]:
    """The sources in the format of stanzas; a key that is written into the stanza itself is left out."""
    for stanza in re.split(r"\n[ \t]*\n", text):
        fields = _fields(stanza)
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() == "no":
            continue
        key = fields.get("signed-by", "")
        for uri in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                components = tuple(fields.get("components", "").split())
                yield AptSource(uri, suite, components, key if key.startswith("/") else "")


def for_image(sources: Iterable[AptSource], codename: str) -> tuple[AptSource, ...]:
    """The suite `codename` with its updates and its backports, each with the components that the image needs.

    Components and the backports are added to what is configured, on the mirror that is configured.

    Raises:
        HostError: no source has that suite.
    """
    wanted = {f"{codename}{beside}" for beside in _BESIDE}
    found = [source for source in sources if source.suite in wanted and "main" in source.components]
    base = next((source for source in found if source.suite == codename), None)
    if base is None:
        raise HostError(
            f"apt has no source here for the suite {codename or '(unknown)'}, of which the lab's image is made",
            "the lab is built from Debian's packages: on Debian, see /etc/apt/sources.list.d",
        )
    once = dict.fromkeys(replace(source, components=_NEEDED) for source in (base, *found))
    return (*once, replace(base, suite=f"{codename}{_BACKPORTS}", components=_NEEDED))


def codename_of(os_release: str) -> str:
    """The Debian suite that os-release(5) names; empty where it names none."""
    match = re.search(r'^VERSION_CODENAME="?([a-z]+)', os_release, re.MULTILINE)
    return match[1] if match else ""


def _read(path: Path) -> Iterator[AptSource]:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    yield from parse_deb822(text) if path.suffix == ".sources" else parse_list(text)


def _option(options: str, name: str) -> str:
    pairs = (option.partition("=") for option in options.split())
    return next((value for key, _, value in pairs if key.lower() == name), "")


def _fields(stanza: str) -> Mapping[str, str]:
    """The fields of a stanza by lower-case name; continuation lines are joined, comments left out."""
    fields: dict[str, str] = {}
    name = ""
    for line in stanza.splitlines():
        if line.startswith("#"):
            continue
        if line[:1] in (" ", "\t") and name:
            fields[name] += f" {line.strip()}"
        elif ":" in line:
            key, _, value = line.partition(":")
            name = key.strip().lower()
            fields[name] = value.strip()
    return fields
