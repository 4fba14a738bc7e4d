"""Scripts and programs that end fio before its runtime is over."""

import pytest

from poolproof.foreign.lint.check import lint
from tests.golden import Message
from tests.unit.foreign.lint.making import rules, said, source

_JOB = "--name=a --filename=/mnt/f --rw=randread --bs=4k --size=8g --direct=1"
_PYTHON = '["fio", "--name=a", "--rw=randread", "--bs=4k", "--size=8g", "--direct=1",\n"--time_based", "--runtime=600"]'
_CUT_OFF = "work-done"


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("timeout 20 fio", "--time_based --runtime=120"),
        ("timeout -k 5 60s fio", "--time_based --runtime=50 --ramp_time=15"),
        ("sudo timeout 1m ssh h fio", "--time_based=1 --runtime=2m"),
        ("timeout 90 fio --time_based --runtime=60", "--name=b --rw=read --size=8g --bs=1m --direct=1 --stonewall"),
    ],
)
def test_a_limit_below_the_runtime(command: str, options: str) -> None:
    assert (1, "warning", _CUT_OFF) in said(f"{command} {_JOB} {options}\n", name="bench.sh")


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("timeout 90 fio", "--time_based --runtime=60 --ramp_time=20"),
        ("timeout 20 fio", "--runtime=120"),  # may end early
        ("timeout $T fio", "--time_based --runtime=120"),
        ("timeout 20 fio", "--time_based --runtime=$T"),
        ("timeout 0 fio", "--time_based --runtime=120"),
        ("timeout 20 fio", "--time_based --runtime=120 $OPTIONS"),
        ("timeout 20 fio", "--time_based --runtime=120 --steadystate=iops:5%"),
        ("fio", "--time_based --runtime=120"),
    ],
)
def test_limits_that_may_suffice(command: str, options: str) -> None:
    assert _CUT_OFF not in rules(f"{command} {_JOB} {options}\n", name="bench.sh")


def test_the_limit_of_a_call_in_python(message: Message) -> None:
    (found,) = [
        each for each in lint(source(f"subprocess.run({_PYTHON}, timeout=120)\n", "b.py")) if each.rule == _CUT_OFF
    ]
    assert "2 min" in message(found.message) and "10 min" in found.message
    assert found.line == 2
    text = f"cmd = {_PYTHON}\nout = subprocess.run(cmd, check=True, timeout=120)\n"
    assert _CUT_OFF in rules(text, name="b.py")
    for other in (text.replace("=120", "=700"), text.replace("timeout", "limit"), f"cmd = {_PYTHON}\ntimeout = 120\n"):
        assert _CUT_OFF not in rules(other, name="b.py")


@pytest.mark.parametrize(("limit", "shown"), [("40", "40.0 s"), ("$T", "$T")])
def test_a_fix_that_needs_a_higher_limit_names_it_with_its_unit(limit: str, shown: str) -> None:
    burst = "--name=w --filename=f --rw=write --bs=1m --size=8g --time_based --runtime=10 --direct=1"
    (found,) = [
        each for each in lint(source(f"timeout {limit} fio {burst}\n", "b.sh")) if each.rule == "short-run-burst"
    ]
    assert f"the script ends fio after {shown}: raise this limit first" in found.fix
