"""Lists in cloud-init, compose files and playbooks, and arguments in one string."""

import pytest

from poolproof.foreign.lint.check import lint
from tests.unit.foreign.lint.making import rules, said, source

_ITEMS = ("--name=a", "--filename=/data/f", "--rw=write", "--bs=1m", "--size=8g")
_UNSYNCED = "write-without-sync"
_OPTIONS = " ".join(_ITEMS)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"runcmd:\n - [ fio, {', '.join(_ITEMS)} ]\n", 2),
        (f'runcmd:\n  - ["sh", "-c", "fio {_OPTIONS}"]\n', 2),
        ("runcmd:\n  - - fio\n" + "".join(f"    - {each}\n" for each in _ITEMS), 5),
        ("  args:\n  # what to do\n" + "".join(f"\n  - {each}  \n  # more\n" for each in _ITEMS), 10),
        (f"  entrypoint: fio\n  command: {_OPTIONS}\n", 2),
        (f'  entrypoint: ["fio"]\n  command: "{_OPTIONS}"\n', 2),
        (f"  command: >-\n    {_OPTIONS.replace(' --bs', chr(10) + '    --bs')}\n", 2),
    ],
)
def test_lists_and_strings_of_arguments(text: str, line: int) -> None:
    assert (line, "warning", _UNSYNCED) in said(text, name="x.yaml")
    assert _UNSYNCED not in rules(text.replace("--bs=1m", "--end_fsync=1"), name="x.yaml")


def test_a_list_ends_where_its_indentation_ends() -> None:
    """The next task of a playbook is not an argument of the command before it."""
    items = "".join(f"        - {each}\n" for each in _ITEMS)
    text = f"- name: w\n  command:\n      argv:\n        - fio\n{items}- name: next\n  debug: msg=x\n"
    assert rules(text, name="x.yml") == {_UNSYNCED}


@pytest.mark.parametrize("text", ["  command: --name=web --port=80\n", "  args: -v --name=x\n", "- [fio](x)\n"])
def test_arguments_of_other_programs(text: str) -> None:
    assert rules(text, name="x.yaml") == {"no-job"}


@pytest.mark.parametrize("options", ["--name=a, --rw=write, --size=8g", "--name=a, --size=8g, --readwrite=write"])
def test_the_program_and_its_arguments_in_two_lists(options: str) -> None:
    text = f'  command: ["/usr/bin/fio"]\n  args: [{options}]\n'
    assert _UNSYNCED in rules(text, name="x.yaml")
    assert _UNSYNCED not in rules(text.replace("write,", "read,").replace("write]", "read]"), name="x.yaml")
    assert "misread-by-fio" in rules('  command: [fio]\n  args: ["--name=a", "-e X=1"]\n', name="x.yaml")
    assert rules('  command: [server]\n  args: ["--name=a", "-e X=1"]\n', name="x.yaml") == {"no-job"}


def test_a_job_file_in_a_quoted_scalar() -> None:
    text = (
        "kind: ConfigMap\ndata:\n  workload.fio: '\n\n    [write]\n\n    rw=write\n\n    size=9g\n\n"
        "    filename=/mnt/f\n\n    bs=64k\n\n    '\n"
    )
    assert said(text, name="map.yaml") == [(7, "warning", "write-without-sync")]
    assert said(text.replace("'", '"'), name="map.yaml") == [(7, "warning", "write-without-sync")]
    joined = lint(source(text.replace("size=9g\n\n", "size=9g\n"), name="map.yaml"))
    assert any("size=9g filename=/mnt/f" in each.message for each in joined)


def test_a_job_file_in_a_template_of_yaml() -> None:
    text = (
        "data:\n{% for n in numjobs %}\n  job: |\n    [global]\n{% if block %}\n    filename={{ path }}\n{% else %}\n"
        "    directory={{ path }}\n{% endif %}\n    size={{ size }}\n    bs=1m\n    direct=1\n\n"
        "    [write]\n    rw=write\n{% endif %}\n"
    )
    assert rules(text, name="map.yml.j2") == {"unknown-variable"}
