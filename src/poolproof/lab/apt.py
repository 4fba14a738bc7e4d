"""apt in a folder of its own: what the archives offer, and their packages fetched; the machine's apt is not touched."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from poolproof import process
from poolproof.errors import CommandError, HostError
from poolproof.lab.apt_sources import AptSource

_UPDATE_S = 180.0
_FETCH_S = 900.0
_ASK_S = 60.0
_ROW = re.compile(r"\s*(?P<package>\S+) \| (?P<version>\S+) \| \S+ (?P<suite>[^/\s]+)/\S+ \S+ Packages")


@dataclass(frozen=True)
class Offer:
    """A version of a package, and the suite that has it."""

    version: str
    suite: str


class PrivateApt:
    """apt with its lists, its packages and its preferences below `folder`; needs no root."""

    def __init__(self, folder: Path, sources: Sequence[AptSource]) -> None:
        self._folder = folder
        self.archives = folder / "archives"
        for path in (folder / "lists", self.archives / "partial", folder / "none"):
            path.mkdir(parents=True, exist_ok=True)
        (folder / "status").write_text("")
        (folder / "preferences").write_text("")
        (folder / "sources.list").write_text("".join(f"{source.line()}\n" for source in sources))

    def update(self) -> None:
        """Fetch the lists of packages.

        Raises:
            HostError: an archive has not what is asked for, or is not reached.
        """
        done = self._run("apt-get", "update", "--error-on=any", timeout_s=_UPDATE_S)
        if done.returncode != 0:
            raise HostError(
                f"apt can't read the archives of the lab's image: {_first_errors(done.stderr)}",
                "are the mirrors of /etc/apt reached, with `contrib` and the backports? sudo apt-get update",
            )

    def offers(self, package: str) -> tuple[Offer, ...]:
        """The versions of a package, the newest first."""
        text = self._run("apt-cache", "madison", package, timeout_s=_ASK_S).stdout
        rows = (_ROW.fullmatch(line.rstrip()) for line in text.splitlines())
        return tuple(Offer(row["version"], row["suite"]) for row in rows if row and row["package"] == package)

    def prefer(self, preferences: str) -> None:
        """Take versions as these apt_preferences(5) say."""
        (self._folder / "preferences").write_text(preferences)

    def fetch(self, packages: Sequence[str]) -> None:
        """Fetch what a new system of these packages needs; what is there already is not fetched again.

        Raises:
            HostError: a package is not to be had, or the disk is full.
        """
        done = self._run(
            *("apt-get", "install", "--yes", "--download-only", "?essential", "apt", *packages), timeout_s=_FETCH_S
        )
        if done.returncode != 0:
            raise HostError(
                f"apt can't fetch the packages of the lab's image: {_first_errors(done.stderr)}",
                "try again: what was fetched is kept",
            )

    def _run(self, program: str, *arguments: str, timeout_s: float) -> process.Completed:
        options = (word for option in self._options() for word in ("-o", option))
        try:
            return process.run([program, *options, *arguments], timeout_s=timeout_s, check=False)
        except process.ProgramMissing:
            raise HostError(
                "apt is not here", "the lab's image is built on Debian; a built one can be copied"
            ) from None
        except process.CommandTimedOut as error:
            raise HostError(f"apt hangs: {error.message}", "are the mirrors of /etc/apt reached?") from None
        except CommandError as error:
            raise HostError(f"apt can't run: {error.message}", "does it by hand? apt-get --version") from None

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


def _first_errors(said: str) -> str:
    """apt's own words; the warnings only where there are no errors."""
    lines = [line for line in said.splitlines() if line.startswith("E: ")] or said.splitlines()
    return "; ".join(line.removeprefix("E: ").strip() for line in lines[:3]) or "it said nothing"
