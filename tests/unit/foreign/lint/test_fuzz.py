"""No text causes a traceback, and applying fixes always ends."""

from hypothesis import given, settings
from hypothesis import strategies as st

from poolproof.foreign.lint.shell.shell_words import read_script
from tests.unit.foreign.lint.making import fixed_text, flags, said

_VALUES = st.sampled_from(
    ["0", "1", "4k", "4KiB", "1g", "100%", "25%", "write", "randread", "rw", "libaio", "psync", "${SIZE}", "${X}", "$v",
     "a:b", "/dev/sdb", "", "zipf:1.2", "4k/50:8k/50", "-1", "9" * 30, "0x", "(1+1)k", "99.9:", "é"]
)  # fmt: skip
_NAMES = st.sampled_from(
    ["rw", "bs", "size", "numjobs", "filename", "directory", "direct", "ioengine", "iodepth", "runtime", "time_based",
     "fsync", "end_fsync", "offset_increment", "kb_base", "percentile_list", "gtod_reduce", "verify", "invalidate",
     "group_reporting", "stonewall", "rwmixread", "bssplit", "nonsense", "zero_buffers", "ramp_time", "include x"]
)  # fmt: skip
_OPTIONS = st.lists(st.tuples(_NAMES, _VALUES), max_size=8)
_ZFS = flags(fs="zfs-2.3", ram="8G", recordsize="128k", compression="lz4")
_PIECES = st.sampled_from(
    ["fio", "--name=a", "--rw=write", "--size=1g", "--bs", "4k", "$x", "${x", "$(", ")", "`", "'", '"', "\\", "\\\n",
     "\n", " ", ";", "|", "<<EOF", "EOF", "[a]", "#", ">", "2>&1", "x=1", "for", "do", "é", "\0", "\r\n", "{", "$@"]
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["global", "a", "b", "/dev/sdb", ""]), _OPTIONS), max_size=4), st.booleans())
def test_job_files(sections: list[tuple[str, list[tuple[str, str]]]], on_zfs: bool) -> None:
    text = "".join(f"[{name}]\n" + "".join(f"{key}={value}\n" for key, value in options) for name, options in sections)
    where = _ZFS if on_zfs else None
    after = fixed_text(text, where)
    assert len([each for each in after.left if each.severity == "error"]) <= len(
        [severity for _, severity, _ in said(text, where) if severity == "error"]
    )


@settings(max_examples=200, deadline=None)
@given(st.lists(_PIECES, max_size=40))
def test_scripts(pieces: list[str]) -> None:
    text = "".join(pieces)
    said(text, name="x.sh")
    fixed_text(text, name="x.sh")


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_any_text(text: str) -> None:
    said(text, name="x")
    fixed_text(text)


@settings(max_examples=200, deadline=None)
@given(st.lists(_PIECES, max_size=40))
def test_a_word_is_where_it_says(pieces: list[str]) -> None:
    text = "".join(pieces)
    for command in read_script(text, {}).commands:
        for word in command:
            assert 0 <= word.start <= word.end <= len(text)
            assert 1 <= word.line <= text.count("\n") + 1
            if word.verbatim is not None:
                assert text[word.verbatim :].startswith(word.text)


def test_a_loop_over_a_variable_without_a_valid_name_is_ignored() -> None:
    for name in ("[", "(a+)+b", "1", "${bs}"):
        said(f"for {name} in 4k 64k; do\nfio --name=a --rw=read --bs=$bs\ndone\n", name="x.sh")


def test_deep_nesting_and_long_lines() -> None:
    said("$(" * 5000 + "fio --name=a --rw=write", name="x.sh")
    said('"' * 20_001 + "fio", name="x.sh")
    said("[a]\n" + "bs=4k\n" * 20_000)
    said("fio --name=a " + "--bs=4k " * 5_000, name="x.sh")
