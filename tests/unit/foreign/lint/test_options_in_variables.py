"""Options of fio that a script keeps in variables and arrays, although some of their values are unknown."""

import pytest

from poolproof.foreign.lint.check import lint
from tests.unit.foreign.lint.making import rules, said, source


def _rules(text: str) -> set[str]:
    return rules(text, name="bench.sh")


def test_options_in_an_array() -> None:
    array = "ARGS=(\n  --ioengine=psync  # one at a time\n  --iodepth=32 --direct=1\n)\n"
    call = 'fio "${ARGS[@]}" --name=a --filename=f --rw=randread --bs=4k --size=9g\n'
    assert _rules(array + call) == {"iodepth-with-sync-engine"}
    assert _rules(array + call.replace('"', "").replace("@", "*")) == {"iodepth-with-sync-engine"}
    assert not _rules(array + "ARGS+=(--iodepth=1)\n" + call)
    assert _rules("ARGS=()\n" + array + "ARGS+=(--bs=8k)\n" + call) == {"iodepth-with-sync-engine"}
    for more in (
        "[ -z $MORE ] || ARGS+=(--iodepth=1)\n",
        "more() {\nARGS+=(--iodepth=1)\n}\nmore\n",
        "for a in b; do\nARGS+=(--iodepth=1)\ndone\n",
        "ARGS+=($(options))\n",
        "read -r -a ARGS\n",
        "echo ${ARGS[@]}\nARGS+=(--iodepth=1)\n",
    ):
        assert "unknown-variable" in _rules(array + more + call), more
    assert "unknown-variable" in _rules("ARGS=(--ioengine=psync $MORE)\n" + call)


def test_options_that_a_branch_adds_to_an_array() -> None:
    text = (
        "ARGS=(--name=a --filename=/mnt/f --size=9g --bs=64k)\n"
        'if [ "$MODE" = write ]; then\n  ARGS+=(--rw=write)\nelse\n  ARGS+=(--rw=read)\nfi\nfio "${ARGS[@]}"\n'
    )
    (found,) = lint(source(text, name="bench.sh"))
    assert found.rule == "write-without-sync"
    assert found.message.endswith("(with ARGS=--name=a --filename=/mnt/f --size=9g --bs=64k --rw=write)")


@pytest.mark.parametrize(
    ("options", "call"),
    [
        ('ARGS=(\n  --filename="$FILE" --iodepth=32\n  --runtime=${SECONDS}s --direct=1\n)', 'fio "${ARGS[@]}"'),
        ('ARGS=(fio --filename="$FILE" --iodepth=32 --direct=1)', '"${ARGS[@]}"'),
        ('ARGS="--filename=$FILE --iodepth=32 --direct=1"', "fio $ARGS"),
    ],
)
def test_options_with_unknown_values_in_a_variable(options: str, call: str) -> None:
    job = f"{call} --name=a --rw=randread --bs=4k --size=9g\n"
    assert _rules(f"{options}\n{job}") == {"iodepth-with-sync-engine", "unknown-variable"}
    assert "iodepth-with-sync-engine" not in _rules(f"{options.replace('$FILE', '$(find .)')}\n{job}")
    assert "iodepth-with-sync-engine" not in _rules(f"{options.replace('--direct=1', '$MORE')}\n{job}")


def test_a_loop_variable_in_options_that_a_variable_contains() -> None:
    loop = "for d in 1 32; do\n{}\nfio {} --name=a --rw=randread --bs=4k --size=9g --filename=f --direct=1\ndone\n"
    for text in (
        loop.format('ARGS=(--iodepth="$d")', '"${ARGS[@]}"'),
        loop.format('ARGS="--iodepth=$d --thread"', "$ARGS"),
    ):
        (found,) = lint(source(text, "bench.sh"))
        assert found.rule == "iodepth-with-sync-engine" and found.message.endswith("(with d=32)")


def test_an_array_is_not_a_command_of_its_own() -> None:
    array = "FIO=(fio --rw=randread --bs=4k --size=9g --filename=f --direct=1 --iodepth=32)\n"
    assert _rules(f'{array}"${{FIO[@]}}" --name=a\n') == {"iodepth-with-sync-engine"}
    assert _rules(f'{array}sudo "${{FIO[@]}}" --name=a --ioengine=libaio\n') == set()
    assert "refused-by-fio" in _rules(f'{array}"${{FIO[@]}}"\n')
    assert "iodepth-with-sync-engine" in _rules(array.replace("fio ", "fio --name=a ") + "run_all FIO\n")


def test_a_variable_with_more_options_is_not_the_program() -> None:
    text = (
        'FIO_DEFAULTS="--time_based --ioengine=io_uring \\\n  --direct=1"\n'
        'FIO="fio $FIO_DEFAULTS $FIO_CUSTOM_OPTIONS --filename ${MNT}/fio-1g --size=1g --runtime=60 --iodepth=32 \\\n'
        '  --bs=4k --rw=randread --name=\\"a_${BS}\\""\nsudo numactl -m 1 $FIO\n'
    )
    assert _rules(text) == {"unknown-variable"}
    assert _rules(text.replace("CUSTOM_OPTIONS", "MORE")) == {"unknown-variable"}
    assert _rules(text.replace("$FIO_CUSTOM_OPTIONS ", "").replace("--time_based", "--thread")) == {
        "unknown-variable",
        "runtime-without-time-based",
    }


@pytest.mark.parametrize("value", ["@bs@", "{4k|64k}", "<4k|64k>", "[4k|64k]"])
def test_placeholders_in_templates_and_usages(value: str) -> None:
    command = f"fio --name=a --rw=randread --filename=/mnt/f --size=9g --bs={value} --ioengine=psync --iodepth=8\n"
    assert _rules(command) == {"unknown-variable", "iodepth-with-sync-engine"}
    assert "refused-by-fio" in _rules(command.replace(value, "@bs"))


def test_how_to_replace_a_placeholder() -> None:
    job = "[a]\nrw=randread\nfilename=/mnt/f\nsize=9g\nbs={}\n"
    (template,) = lint(source(job.format("{{ bs }}")))
    assert template.fix.startswith("write the value in place of the placeholder")
    (variable,) = lint(source(job.format("${BS}")))
    assert variable.fix.startswith("write the value into the job file, or set a variable")


@pytest.mark.parametrize("before", ["kubectl exec fio -- ", "numactl -N 0 ", "taskset -c 0 ", ""])
def test_a_call_with_unknown_options_only(before: str) -> None:
    text = f'ARGS="$1"\necho "fio $ARGS"\n{before}fio $ARGS\n'
    assert said(text, name="bench.sh") == [(3, "note", "unknown-variable")]
