"""The working directory of each command in a shell script: `cd`, `pushd`, `popd` and subshells change it."""

from dataclasses import replace
from itertools import dropwhile
from posixpath import join, normpath

from poolproof.load.fio.job import Job, Jobs

_ABSOLUTE = ("/", "$", "`")  # a variable may begin with a slash
_UNKNOWN = "$PWD"
_KEYWORDS = ("do", "then", "else", "elif", "if", "while", "until", "{", "!", "command", "builtin")


class WorkingFolder:
    """Follows a script from `path`, the directory in which it starts ("" if it is not known).

    `path`: the current directory. It contains an unexpanded variable if the script does not show which one it is.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._previous = path
        self._pushed: list[str] = []
        self._outer: list[tuple[str, str, list[str]]] = []
        self._branches: list[list[str]] = []

    def open_subshell(self) -> None:
        self._outer.append((self.path, self._previous, list(self._pushed)))

    def close_subshell(self) -> None:
        if self._outer:  # a case pattern has only the closing parenthesis
            self.path, self._previous, self._pushed = self._outer.pop()

    def run(self, command: list[str]) -> str:
        """Follow one simple command, with the keywords before it, and return the directory in which it runs."""
        self._branch(command[0])
        folder = self.path
        program, *rest = [*dropwhile(_KEYWORDS.__contains__, command)] or [""]
        given = [word for word in rest if not word.startswith("-") or word == "-"]
        if program == "cd":
            self._change(given[0] if given else "~")
        elif program == "pushd" and given:
            self._pushed.append(self.path)
            self._change(given[0])
        elif program == "popd" and self._pushed:
            self._previous, self.path = self.path, self._pushed.pop()
        return folder

    def _change(self, folder: str) -> None:
        self._previous, before = self.path, self._previous
        if folder == "-":
            self.path = before
        elif folder.startswith(("~", "+")):  # `pushd +1` rotates the stack
            self.path = _UNKNOWN
        elif folder.startswith(_ABSOLUTE):
            self.path = normpath(folder)
        else:
            self.path = normpath(join(self.path, folder)).removeprefix("./")

    def _branch(self, keyword: str) -> None:
        """Follow if, else and fi. After branches that end in different directories, the directory is unknown."""
        if keyword == "if":
            self._branches.append([])
        elif not self._branches:
            return
        ends = self._branches[-1]
        if keyword == "then" and not ends:
            ends.append(self.path)
        elif keyword in ("elif", "else") and ends:
            ends.append(self.path)
            self.path = ends[0]
            if keyword == "else":
                ends[0] = ends[-1]  # one of the branches runs
        elif keyword == "fi":
            self._branches.pop()
            self.path = self.path if {*ends, self.path} == {self.path} else _UNKNOWN


def jobs_in(folder: str, jobs: Jobs) -> Jobs:
    """Return the jobs of a command that runs in `folder`: `directory` is set for jobs with relative paths."""
    return tuple(_moved(job, folder) for job in jobs) if folder else jobs


def _moved(job: Job, folder: str) -> Job:
    directory = job.directory or ""
    is_absolute = bool(job.filenames) and all(name.startswith(_ABSOLUTE) for name in job.filenames)
    if (is_absolute and not directory) or directory.startswith(_ABSOLUTE):
        return job
    path = normpath(join(folder, directory)).replace(":", "\\:")
    return replace(job, options={**job.options, "directory": path})
