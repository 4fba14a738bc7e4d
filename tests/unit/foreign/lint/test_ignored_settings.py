"""Settings without their usual effect. The expected results are those of fio 3.33, bash and dash."""

import pytest

from tests.unit.foreign.lint.making import said

_MISREAD = "misread-by-fio"


def _severities(text: str, name: str = "bench.sh") -> list[str]:
    return [severity for _, severity, rule in said(text, name=name) if rule == _MISREAD]


@pytest.mark.parametrize(
    ("text", "name", "severity"),
    [
        ("fio --name=a --rw=randread --size=1g --direct=1 --time_based\n", "bench.sh", "warning"),
        ("[a]\nrw=randread\nsize=1g\ndirect=1\ntime_based\n", "a.fio", "note"),
    ],
)
def test_time_based_without_a_runtime(text: str, name: str, severity: str) -> None:
    assert _severities(text, name) == [severity]
    between = "\n" if name == "a.fio" else " --"
    for runtime in ("runtime=60", "timeout=60"):
        assert _severities(text.replace("size=1g", f"{runtime}{between}size=1g"), name) == []


@pytest.mark.parametrize("options", ["--time_based=0", "--time_based --runtime=$T", "--time_based $MORE"])
def test_a_job_that_may_have_a_runtime(options: str) -> None:
    assert _severities(f"fio --name=a --rw=randread --size=1g --direct=1 {options}\n") == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("fio --name=a --rw=randread --size=1g --direct=1 --filename=~/f\n", "bench.sh"),
        ('fio --name=a --rw=randread --size=1g --direct=1 "--directory=~/x"\n', "bench.sh"),
        ("[a]\nrw=randread\nsize=1g\ndirect=1\nfilename=~/f\n", "a.fio"),
    ],
)
def test_a_tilde_that_nothing_expands(text: str, name: str) -> None:
    assert _severities(text, name) == ["warning"]
    assert _severities(text.replace("~", "$HOME" if name == "bench.sh" else "${HOME}"), name) == []


@pytest.mark.parametrize(
    ("path", "is_misread"), [('"/mnt/f"', True), ("'f'", True), ("/mnt/it's", False), ("/mnt/f", False)]
)
def test_quotes_in_a_job_file(path: str, is_misread: bool) -> None:
    """Measured with fio 3.33: filename="f" creates a file whose name begins and ends with a quote."""
    text = f"[a]\nrw=randread\nsize=1g\ndirect=1\nfilename={path}\n"
    assert _severities(text, "a.fio") == ["warning"] * is_misread
    assert _severities(f"fio --name=a --rw=randread --size=1g --direct=1 --filename={path}\n") == []


def test_a_tilde_that_the_shell_expands() -> None:
    assert _severities("fio --name=a --rw=randread --size=1g --direct=1 --filename ~/f\n") == []


@pytest.mark.parametrize(
    ("value", "is_misread"),
    [("/mnt/a--iodepth=1--rw=read", True), ('"/mnt/a"--iodepth="1"', True), ("/mnt/a--x=1", False), ("/a--rw", False)],
)
def test_an_option_without_a_space_before_it(value: str, is_misread: bool) -> None:
    assert _severities(f"fio --name=a --filename={value} --size=1g --bs=1m --direct=1\n") == ["warning"] * is_misread
