"""All formats of one run contain the same values, as far as they print them. Truncated output contains fewer values."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from poolproof.load.fio.find import find_results
from poolproof.load.fio.json_output import read_json
from poolproof.load.fio.terse import read_terse_line
from poolproof.load.fio.text import read_text
from poolproof.load.outcome import Latency, Outcome
from tests.unit.load.fio.flat_numbers import Numbers, job_numbers, numbers_of
from tests.unit.load.fio.needs_fio import needs_fio

CAPTURED = Path(__file__).parent / "captured"
ALL_FORMATS = [
    "3.33-all-formats.txt",
    "3.33-all-formats-group.txt",
    "3.33-terse-v2.txt",
    "3.33-terse-v4.txt",
    "3.33-terse-v5.txt",
]
EXACT = (".ios", ".runtime_ms", ".error", ".samples", ".read_ios", ".write_ios")


def captured(name: str) -> str:
    return (CAPTURED / name).read_text()


def read_terse(text: str) -> Outcome:
    """Return all terse lines in a text as one result."""
    found = [result for line in text.splitlines() if (result := read_terse_line(line)) is not None]
    assert found
    return Outcome(version=found[0].version, parts=tuple(job for result in found for job in result.parts))


def assert_agree(printed: Numbers, truth: Numbers, *, fewest: int) -> None:
    """Check that printed values agree to 3 significant digits (fio's num2str) or to a whole microsecond."""
    shared = [path for path in printed if path in truth and not path.endswith(".jobs")]
    assert len(shared) >= fewest
    for path in shared:
        if path.endswith(EXACT):
            assert printed[path] == truth[path], path
        else:
            slack = 1000 if "_ns" in path else 1025 if "_bytes" in path else 1
            assert printed[path] == pytest.approx(truth[path], rel=0.006, abs=slack), path


@pytest.mark.parametrize("name", ALL_FORMATS)
def test_normal_output_agrees_with_json(name: str) -> None:
    (text,) = read_text(captured(name))
    assert_agree(numbers_of(text), numbers_of(read_json(captured(name))), fewest=60)


@pytest.mark.parametrize("name", ALL_FORMATS)
def test_terse_output_agrees_with_json(name: str) -> None:
    terse = read_terse(captured(name))
    assert_agree(numbers_of(terse), numbers_of(read_json(captured(name))), fewest=59)


def test_si_units_and_bits_are_converted() -> None:
    (text,) = read_text(captured("3.33-bits-1000.txt"))
    assert_agree(numbers_of(text), numbers_of(read_json(captured("3.33-bits-1000.txt"))), fewest=20)


def test_a_group_has_its_number_of_clones_and_syncs() -> None:
    (text,) = read_text(captured("3.33-all-formats-group.txt"))
    (job,) = text.parts
    assert (job.name, job.clones, text.version) == ("mix", 2, "fio-3.33")
    assert job.sync is not None and job.sync.mean_ns == 471080.0 and job.sync.percentiles_ns[99.0] == 5538000.0
    assert job.options == {"rw": "randrw", "ioengine": "libaio", "iodepth": "4", "bs": "4096"}
    assert text.disks[0].name == "vda" and text.disks[0].utilisation_percent == 56.10


def test_each_job_of_a_run_is_a_part() -> None:
    (text,) = read_text(captured("3.33-all-formats.txt"))
    assert [job.clones for job in text.parts] == [1, 1]


def test_output_of_a_client_has_the_name_of_the_host() -> None:
    (text,) = read_text(captured("3.33-client.txt"))
    assert text.parts[0].name == "cl" and text.parts[0].read is not None and text.parts[0].read.ios == 1024
    assert read_json(captured("3.33-client.json")).parts[0].read is not None


@pytest.mark.parametrize("name", [*ALL_FORMATS, "3.33-bits-1000.txt", "3.33-unified-both.txt"])
def test_a_run_in_several_formats_is_found_once(name: str) -> None:
    found = find_results(captured(name))
    assert [result.format for result in found] == ["json"]


NORMAL = captured("3.33-all-formats-group.txt").split("\n}\n", 1)[1].lstrip("\n")
TERSE = next(line for line in captured("3.33-terse-v5.txt").splitlines() if line.startswith("5;"))


def known_values(results: tuple[Outcome, ...]) -> set[float]:
    return {value for result in results for job in result.parts for value in job_numbers(job).values()}


WHOLE = known_values(read_text(NORMAL)) | {0.0, 1.0}


@given(st.integers(0, len(NORMAL)))
@example(NORMAL.index("ctx=") + len("ctx=1"))
def test_values_after_a_cut_are_missing_and_never_wrong(length: int) -> None:
    for result in read_text(NORMAL[:length]):
        truth = job_numbers(read_text(NORMAL)[0].parts[0])
        for path, value in job_numbers(result.parts[0]).items():
            rounding = 0.01 if "bandwidth" in str(path) else 0  # fio prints it twice, in MiB/s and in MB/s
            assert value == pytest.approx(truth[path], rel=rounding, abs=0), path


@given(st.sets(st.integers(0, NORMAL.count("\n"))))
def test_missing_lines_cause_no_wrong_values(missing: set[int]) -> None:
    kept = "\n".join(line for number, line in enumerate(NORMAL.split("\n")) if number not in missing)
    assert known_values(read_text(kept)) <= WHOLE


@given(st.integers(0, len(NORMAL)), st.integers(0, 200), st.text(max_size=30))
def test_damaged_output_raises_nothing(start: int, length: int, inserted: str) -> None:
    damaged = NORMAL[:start] + inserted + NORMAL[start + length :]
    assert len(find_results(damaged)) <= 4


TOKENS = [
    "{",
    "]",
    '"fio version"',
    "fio --name=a ",
    "`",
    "\\\n",
    "> ",
    "<b>",
    "&lt;",
    "\r",
    "9" * 400,
    "-nan",
    "1e999",
    "NaN",
    "%=",
]
EVERYTHING = "\n".join(captured(name) for name in ("3.33-etcd.json", "3.33-terse-v5.txt")) + NORMAL


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(EVERYTHING)), st.sampled_from(TOKENS), st.integers(0, 50)), max_size=6))
def test_replaced_words_raise_nothing(changes: list[tuple[int, str, int]]) -> None:
    text = EVERYTHING
    for place, token, removed in changes:
        text = text[:place] + token + text[place + removed :]
    for found in find_results(text):
        assert found.line <= found.last_line
        assert all(abs(value) < 1e30 for value in numbers_of(found.result).values())


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=400))
def test_no_text_makes_a_traceback(text: str) -> None:
    assert find_results(text) == ()


@given(st.integers(0, len(TERSE)))
def test_a_cut_off_terse_line_has_no_wrong_value(length: int) -> None:
    whole, cut = read_terse_line(TERSE), read_terse_line(TERSE[:length])
    assert whole is not None
    for name, moved in cut.parts[0].directions.items() if cut else ():
        expected = whole.parts[0].directions[name]
        for field, value in vars(moved).items():
            known = getattr(expected, field)
            if isinstance(value, Latency):
                assert value.mean_ns == known.mean_ns
                assert value.percentiles_ns.items() <= known.percentiles_ns.items()
            else:
                assert value in (None, known)


@given(st.integers(0, 120), st.text(max_size=8))
def test_a_damaged_terse_field_raises_nothing(place: int, field: str) -> None:
    fields = TERSE.split(";")
    fields[place] = field
    result = read_terse_line(";".join(fields))
    assert result is None or len(result.parts) == 1


@needs_fio
def test_all_formats_of_a_new_run_agree(tmp_path: Path) -> None:
    job = ["--name=fresh", "--rw=randrw", "--bs=4k", "--size=4m", "--numjobs=2", "--fdatasync=16"]
    command = ["fio", *job, f"--directory={tmp_path}", "--output-format=normal,terse,json+", "--terse-version=5"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    truth = numbers_of(read_json(said))
    (text,) = read_text(said)
    terse = read_terse(said)
    assert_agree(numbers_of(text), truth, fewest=60)
    assert_agree(numbers_of(terse), truth, fewest=60)
