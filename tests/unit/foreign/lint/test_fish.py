"""Scripts for the shell fish: variables, functions and their arguments, loops, and blocks inside blocks."""

import pytest

from tests.unit.foreign.lint.making import fixed_text, rules, said

_UNSYNCED = "write-without-sync"
_OPTIONS = "--name=a --directory=/mnt --bs=1m --size=8g"


def _of(text: str) -> set[str]:
    return rules(text, name="bench.fish")


@pytest.mark.parametrize(
    "text",
    [
        f"function w --argument-names rw\n    fio {_OPTIONS} --rw=$rw\nend\nw read\nw write\n",
        f"function w -a dir rw -d 'writes'\n    fio {_OPTIONS} --rw=$rw\nend\nw /mnt write\n",
        f"function w\n    fio {_OPTIONS} --rw=$argv[2]\nend\nw /mnt write\n",
        f"function w\n    fio {_OPTIONS} $argv\nend\nw --rw=write\n",
        f"set -l rw write\nfio {_OPTIONS} --rw=$rw\n",
        f"set modes read write\nfor rw in $modes\n    fio {_OPTIONS} --rw=$rw\nend\n",
        f"set -gx rw write\nif test -d /mnt; and true\n    fio {_OPTIONS} --rw=$rw\nelse\n    echo no\nend\n",
        f"function all\n    function w -a rw\n        fio {_OPTIONS} --rw=$rw\n    end\n    w write\nend\nall\n",
        f"function all\n    for rw in read write\n        begin\n            fio {_OPTIONS} --rw=$rw; or exit 1\n"
        "        end\n    end\nend\nall\n",
    ],
)
def test_values_of_variables(text: str) -> None:
    assert _UNSYNCED in _of(text)
    assert _UNSYNCED not in _of(text.replace("write", "randread"))


def test_a_variable_that_a_branch_sets() -> None:
    text = f"set rw read\nif test -n $x\n    set rw write\nend\nfio {_OPTIONS} --rw=$rw\n"
    assert _of(text) == {_UNSYNCED}
    assert _of(text.replace("set rw write", "set -q rw")) == set()


def test_a_shebang_names_the_shell() -> None:
    script = f"set -l rw write\nfio {_OPTIONS} --rw=$rw\n"
    assert _UNSYNCED in rules(f"#!/usr/bin/env fish\n{script}", name="bench")
    assert _UNSYNCED not in rules(f"#!/bin/bash\n{script}", name="bench")


def test_lines_stay_and_the_script_is_not_changed() -> None:
    text = f"# a benchmark\nset -l rw write\n\nfio {_OPTIONS} --rw=$rw\n"
    assert (4, "warning", _UNSYNCED) in said(text, name="bench.fish")
    assert fixed_text(text, name="bench.fish").text == text


def test_a_function_inside_a_function_of_bash() -> None:
    text = f"all() {{\n  w() {{\n    fio {_OPTIONS} --rw=$1\n  }}\n  w write\n}}\nall\n"
    assert _UNSYNCED in rules(text, name="bench.sh")
    assert _UNSYNCED not in rules(text.replace("w write", "w read"), name="bench.sh")
