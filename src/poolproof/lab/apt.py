"""Downloads the packages for the lab's image with apt, without affecting this machine's own apt.

Sources and mirrors are taken from this machine's configuration. apt keeps all of its own files in a private folder.
"""

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from email import message_from_string
from pathlib import Path

from poolproof import process
from poolproof.errors import CommandError, HostError

ETC_APT = Path("/etc/apt")

_LINE = re.compile(r"deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)\s+(?P<components>\S.*)")
_BACKPORTS = "-backports"
_SUFFIXES = ("", "-updates", "-security")
_UPDATE_S = 180.0
_FETCH_S = 900.0
_QUERY_S = 60.0
_ROW = re.compile(r"\s*(?P<package>\S+) \| (?P<version>\S+) \| \S+ (?P<suite>[^/\s]+)/\S+ \S+ Packages")


@dataclass(frozen=True)
class AptSource:
    """One suite of an archive, as a source of packages.

    `signed_by`: the path of a keyring file, or "" for apt's default keys.
    """

    uri: str
    suite: str
    components: tuple[str, ...]
    signed_by: str = ""

    def line(self) -> str:
        """Return the source as a line in the format of sources.list(5)."""
        options = f"[signed-by={self.signed_by}] " if self.signed_by else ""
        return f"deb {options}{self.uri} {self.suite} {' '.join(self.components)}"


def configured(etc_apt: Path = ETC_APT) -> tuple[AptSource, ...]:
    """Return all binary sources in sources.list and sources.list.d, in apt's order. Unreadable files are skipped."""
    found: list[AptSource] = []
    for path in (etc_apt / "sources.list", *sorted((etc_apt / "sources.list.d").glob("*"))):
        if path.suffix in (".list", ".sources"):
            with contextlib.suppress(OSError):
                text = path.read_text(encoding="utf-8", errors="replace")
                found += parse_deb822(text) if path.suffix == ".sources" else parse_list(text)
    return tuple(found)


def parse_list(text: str) -> Iterator[AptSource]:
    """Yield the sources from the contents of a file in the one-line format."""
    for line in text.splitlines():
        match = _LINE.fullmatch(line.partition("#")[0].strip())
        if match:
            key = re.search(r"(?:^|\s)signed-by=(\S+)", match["options"] or "", re.IGNORECASE)
            components = tuple(match["components"].split())
            yield AptSource(match["uri"], match["suite"], components, key[1] if key else "")


def parse_deb822(text: str) -> Iterator[AptSource]:
    """Yield the sources from the contents of a file in the deb822 format. Keys embedded in a stanza are ignored."""
    for stanza in re.split(r"\n[ \t]*\n", text):
        lines = [line for line in stanza.splitlines() if line.strip() and not line.startswith("#")]
        fields = message_from_string(
            "\n".join(lines)
        )  # parsed as email headers, which have the same syntax: names in any case, continuation lines
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").strip().lower() == "no":
            continue
        key, components = fields.get("signed-by", "").strip(), tuple(fields.get("components", "").split())
        for uri in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                yield AptSource(uri, suite, components, key if key.startswith("/") else "")


def for_image(sources: Iterable[AptSource], codename: str, components: tuple[str, ...]) -> tuple[AptSource, ...]:
    """Return the sources for the suite `codename` and for its updates, security and backports suites.

    The mirrors are those that this machine uses. A source for backports is added.

    `components`: the components that each returned source has.

    Raises a HostError if no configured source has the suite with the component `main`.
    """
    suites = {f"{codename}{suffix}" for suffix in _SUFFIXES}
    found = [source for source in sources if source.suite in suites and "main" in source.components]
    base = next((source for source in found if source.suite == codename), None)
    if base is None:
        raise HostError(
            f"this machine's apt has no source for the suite {codename or '(unknown)'}, which the lab's image needs",
            "the image is built from Debian packages; on Debian, check /etc/apt/sources.list.d",
        )
    unique = dict.fromkeys(replace(source, components=components) for source in (base, *found))
    return (*unique, replace(base, suite=f"{codename}{_BACKPORTS}", components=components))


def codename_of(os_release: str) -> str:
    """Return the codename in the text of an os-release(5) file, such as `bookworm`, or "" if it has none."""
    match = re.search(r'^VERSION_CODENAME="?([a-z]+)', os_release, re.MULTILINE)
    return match[1] if match else ""


@dataclass(frozen=True)
class Offer:
    """A version of a package that is available, and the suite that contains it."""

    version: str
    suite: str


class PrivateApt:
    """An instance of apt that keeps its lists, packages and preferences in `folder`. It does not need root."""

    def __init__(self, folder: Path, sources: Sequence[AptSource]) -> None:
        self._folder = folder
        self._components = tuple(dict.fromkeys(each for source in sources for each in source.components))
        self.archives = folder / "archives"
        for path in (folder / "lists", self.archives / "partial", folder / "none"):
            path.mkdir(parents=True, exist_ok=True)
        (folder / "status").write_text("")
        (folder / "preferences").write_text("")
        (folder / "sources.list").write_text("".join(f"{source.line()}\n" for source in sources))

    def update(self) -> None:
        """Download the package lists. Raises a HostError if an archive is unreachable or lacks a suite or component."""
        done = self._run("apt-get", "update", "--error-on=any", timeout_s=_UPDATE_S)
        if done.returncode != 0:
            raise HostError(
                f"apt could not fetch the package lists for the lab's image: {_first_errors(done.stderr)}",
                "check that the mirrors in /etc/apt are reachable and have backports and the components "
                f"{', '.join(self._components)}: sudo apt-get update",
            )

    def offers(self, package: str) -> tuple[Offer, ...]:
        """Return the available versions of a package, newest first."""
        text = self._run("apt-cache", "madison", package, timeout_s=_QUERY_S).stdout
        rows = (_ROW.fullmatch(line.rstrip()) for line in text.splitlines())
        return tuple(Offer(row["version"], row["suite"]) for row in rows if row and row["package"] == package)

    def prefer(self, preferences: str) -> None:
        """Write the apt preferences, which pin packages to a version or suite (apt_preferences(5))."""
        (self._folder / "preferences").write_text(preferences)

    def fetch(self, packages: Sequence[str]) -> None:
        """Download these packages and their dependencies for a new system. Earlier downloads are reused.

        Raises a HostError if a package is not available or the disk is full.
        """
        done = self._run(
            *("apt-get", "install", "--yes", "--download-only", "?essential", "apt", *packages), timeout_s=_FETCH_S
        )
        if done.returncode != 0:
            raise HostError(
                f"apt could not fetch the packages for the lab's image: {_first_errors(done.stderr)}",
                "try again: poolproof lab build; packages already fetched are reused",
            )

    def _run(self, program: str, *arguments: str, timeout_s: float) -> process.Completed:
        options = (word for option in self._options() for word in ("-o", option))
        try:
            return process.run([program, *options, *arguments], timeout_s=timeout_s, check=False)
        except process.ProgramMissing:
            hint = "build the lab's image on Debian and copy it to this machine"
            raise HostError("apt is not installed on this machine", hint) from None
        except process.CommandTimedOut as error:
            raise HostError(
                f"apt did not finish: {error.message}", "check that the mirrors are reachable: sudo apt-get update"
            ) from None
        except CommandError as error:
            raise HostError(f"apt could not be run: {error.message}", "apt-get --version") from None

    def _options(self) -> Iterator[str]:
        folder = self._folder
        yield from (
            *(f"Dir::Etc::sourcelist={folder}/sources.list", f"Dir::Etc::sourceparts={folder}/none"),
            *(f"Dir::Etc::preferences={folder}/preferences", f"Dir::Etc::preferencesparts={folder}/none"),
            *(f"Dir::State={folder}", f"Dir::State::lists={folder}/lists", f"Dir::State::status={folder}/status"),
            *(f"Dir::Cache={folder}", f"Dir::Cache::archives={self.archives}"),
            *("APT::Sandbox::User=root", "APT::Architecture=amd64", "APT::Architectures::=amd64"),
            *("APT::Install-Recommends=false", "Acquire::Languages=none", "Acquire::Retries=2", "quiet=2"),
        )


def _first_errors(output: str) -> str:
    """Return the first three lines that report an error or, if no line does, the first three lines."""
    lines = [line for line in output.splitlines() if line.startswith("E: ")] or output.splitlines()
    return "; ".join(line.removeprefix("E: ").strip() for line in lines[:3]) or "no output"
