"""apt for the lab's image: the sources in this machine's own configuration, and an apt in a private folder.

No mirror is named in this code, and the machine's apt is not changed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from poolproof import process
from poolproof.errors import CommandError, HostError

ETC_APT = Path("/etc/apt")


_LINE = re.compile(r"deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)\s+(?P<components>\S.*)")
_NEEDED = ("main", "contrib")  # zfs-dkms is in contrib
_BACKPORTS = "-backports"
_SUFFIXES = ("", "-updates", "-security")
_UPDATE_S = 180.0
_FETCH_S = 900.0
_QUERY_S = 60.0
_ROW = re.compile(r"\s*(?P<package>\S+) \| (?P<version>\S+) \| \S+ (?P<suite>[^/\s]+)/\S+ \S+ Packages")


@dataclass(frozen=True)
class AptSource:
    """One archive in one suite. `signed_by`: a keyring file, or empty for apt's default keys."""

    uri: str
    suite: str
    components: tuple[str, ...]
    signed_by: str = ""

    def line(self) -> str:
        """Return the source as a line of sources.list(5)."""
        options = f"[signed-by={self.signed_by}] " if self.signed_by else ""
        return f"deb {options}{self.uri} {self.suite} {' '.join(self.components)}"


def configured(etc_apt: Path = ETC_APT) -> tuple[AptSource, ...]:
    """Return every binary source in sources.list and sources.list.d, in apt's order; unreadable files are skipped."""
    parts = sorted((etc_apt / "sources.list.d").glob("*"))
    files = [etc_apt / "sources.list", *(path for path in parts if path.suffix in (".list", ".sources"))]
    return tuple(source for path in files for source in _read(path))


def parse_list(text: str) -> Iterator[AptSource]:
    """Yield the sources in the one-line format."""
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
    """Yield the sources in the deb822 format; a key embedded in the stanza itself is ignored."""
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
    """Return the suite `codename` with its updates, security and backports, with the components that the image needs.

    Missing components and the backports are added, on the mirror that is configured.

    Raises:
        HostError: no source has that suite.
    """
    suites = {f"{codename}{suffix}" for suffix in _SUFFIXES}
    found = [source for source in sources if source.suite in suites and "main" in source.components]
    base = next((source for source in found if source.suite == codename), None)
    if base is None:
        raise HostError(
            f"this machine's apt has no source for the suite {codename or '(unknown)'}, which the lab's image needs",
            "the image is built from Debian packages; on Debian, check /etc/apt/sources.list.d",
        )
    unique = dict.fromkeys(replace(source, components=_NEEDED) for source in (base, *found))
    return (*unique, replace(base, suite=f"{codename}{_BACKPORTS}", components=_NEEDED))


def codename_of(os_release: str) -> str:
    """Return the Debian suite that os-release(5) names, or an empty string."""
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
    """The fields of a stanza by lower-case name; continuation lines are joined, comments removed."""
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


@dataclass(frozen=True)
class Offer:
    """A version of a package and the suite that offers it."""

    version: str
    suite: str


class PrivateApt:
    """apt with its lists, packages and preferences in `folder`; does not need root."""

    def __init__(self, folder: Path, sources: Sequence[AptSource]) -> None:
        self._folder = folder
        self.archives = folder / "archives"
        for path in (folder / "lists", self.archives / "partial", folder / "none"):
            path.mkdir(parents=True, exist_ok=True)
        (folder / "status").write_text("")
        (folder / "preferences").write_text("")
        (folder / "sources.list").write_text("".join(f"{source.line()}\n" for source in sources))

    def update(self) -> None:
        """Fetch the package lists. Raises a HostError if an archive can't be reached, or lacks a suite or component."""
        done = self._run("apt-get", "update", "--error-on=any", timeout_s=_UPDATE_S)
        if done.returncode != 0:
            raise HostError(
                f"apt could not fetch the package lists for the lab's image: {_first_errors(done.stderr)}",
                "check that the mirrors in /etc/apt are reachable and have `contrib` and backports: apt-get update",
            )

    def offers(self, package: str) -> tuple[Offer, ...]:
        """Return the available versions of a package, newest first."""
        text = self._run("apt-cache", "madison", package, timeout_s=_QUERY_S).stdout
        rows = (_ROW.fullmatch(line.rstrip()) for line in text.splitlines())
        return tuple(Offer(row["version"], row["suite"]) for row in rows if row and row["package"] == package)

    def prefer(self, preferences: str) -> None:
        """Write the apt_preferences(5) that select versions."""
        (self._folder / "preferences").write_text(preferences)

    def fetch(self, packages: Sequence[str]) -> None:
        """Fetch the packages and their dependencies for a new system; those already fetched are reused.

        Raises a HostError if a package is not available, or the disk is full.
        """
        done = self._run(
            *("apt-get", "install", "--yes", "--download-only", "?essential", "apt", *packages), timeout_s=_FETCH_S
        )
        if done.returncode != 0:
            raise HostError(
                f"apt could not fetch the packages for the lab's image: {_first_errors(done.stderr)}",
                "try again; packages already fetched are kept",
            )

    def _run(self, program: str, *arguments: str, timeout_s: float) -> process.Completed:
        options = (word for option in self._options() for word in ("-o", option))
        try:
            return process.run([program, *options, *arguments], timeout_s=timeout_s, check=False)
        except process.ProgramMissing:
            raise HostError(
                "apt is not installed here", "build the lab's image on Debian and copy it to this machine"
            ) from None
        except process.CommandTimedOut as error:
            raise HostError(f"apt hangs: {error.message}", "are the mirrors reachable? sudo apt-get update") from None
        except CommandError as error:
            raise HostError(f"apt does not run: {error.message}", "apt-get --version") from None

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
    """The first error lines; the first lines of any kind if there is no error."""
    lines = [line for line in output.splitlines() if line.startswith("E: ")] or output.splitlines()
    return "; ".join(line.removeprefix("E: ").strip() for line in lines[:3]) or "no output"
