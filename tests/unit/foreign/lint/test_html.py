"""Commands and job files in HTML: in code elements, with entities and tags."""

import pytest

from tests.unit.foreign.lint.making import fixed_text, rules, said

_COMMAND = "fio --name=a --filename=/mnt/f --rw=write --bs=1m --size=8g"
_UNSYNCED = "write-without-sync"


def _lines(text: str, name: str = "page.html") -> list[int]:
    return [line for line, _, rule in said(text, name=name) if rule == _UNSYNCED]


@pytest.mark.parametrize(
    "text",
    [
        f"<p>Don't forget:</p>\n<p>run <code>{_COMMAND}</code>, then <code>sync</code></p>\n",
        f"<pre>\n{_COMMAND}</pre>\n",
        f"<h1>x</h1>\n<pre><code class='sh'><i>$ </i>{_COMMAND.replace('=', '<b>=</b>')}</code></pre>\n",
        f"\n<pre>{_COMMAND.replace('/mnt/f', '&quot;/mnt/f&quot;')} &amp;&amp; echo ok</pre>\n",
        f"<pre>$ lsblk<br/>\n{_COMMAND}<br/>\n</pre>\n",
    ],
)
def test_commands_in_code_elements(text: str) -> None:
    assert _lines(text) == [2]
    assert _lines(text.replace("--bs", "--end_fsync=1 --bs").replace("--bs<b>", "--end_fsync=1 --bs<b>")) == []


@pytest.mark.parametrize(("name", "start"), [("page.html", ""), ("post.md", ""), ("-", "<!DOCTYPE html>\n")])
def test_a_job_file_in_a_pre_element(name: str, start: str) -> None:
    text = f"{start}<p>This is the job:</p>\n<pre><code>[global]\nsize=4g\n[w]\nrw=write\nbs=1m\n</code></pre>\n"
    assert _lines(text, name) == [text[: text.index("rw=")].count("\n") + 1]
    assert _lines(text.replace("bs=1m", "bs=1m\nend_fsync=1"), name) == []


def test_prose_is_not_a_command() -> None:
    assert rules(f"<p>We don't run {_COMMAND} here.</p>\n", name="page.html") == {"no-job"}
    assert rules(f"<p>We don't run</p>\n<pre>{_COMMAND}</pre>\n", name="page.html") == {_UNSYNCED}


@pytest.mark.parametrize("end", ["<br>", "<br/>", "<BR /> "])
def test_lines_that_only_br_ends_are_on_the_line_of_the_source(end: str) -> None:
    job_file = end.join(["[w]", "rw=write", "bs=1m", "size=4g", ""])
    assert _lines(f"<p>x</p>\n<pre>{job_file}</pre>\n") == [2]
    assert _lines(f"<p>x</p>\n<pre>{job_file}end_fsync=1{end}</pre>\n") == []
    commands = f"lsblk{end}{_COMMAND} \\{end}--group_reporting{end}sync"
    assert _lines(f"<p>x</p>\n<pre>{commands}</pre>\n") == [2]
    assert _lines(f"<p>x</p>\n<pre>{commands.replace('--group_reporting', '--end_fsync=1')}</pre>\n") == []


@pytest.mark.parametrize("start", ["<p>Run:</p>", "<div class='post'>", "<h2>fio</h2>\n"])
def test_a_part_of_a_page_without_a_name(start: str) -> None:
    text = f"{start}<pre>{_COMMAND.replace('=', '<b>=</b>')}</pre>\n"
    assert _lines(text, "-") == [start.count("\n") + 1]


def test_html_is_not_changed_in_place() -> None:
    text = f"<pre>{_COMMAND}</pre>\n"
    assert fixed_text(text, name="page.html").text == text
    assert fixed_text(f"{_COMMAND}\n", name="a.sh").text != f"{_COMMAND}\n"
