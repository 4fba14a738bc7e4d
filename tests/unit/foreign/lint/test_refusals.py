"""Complaints of this machine's fio about jobs. No job is run."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from poolproof.foreign.lint.check import lint
from poolproof.foreign.lint.model import Diagnostic, Severity
from poolproof.foreign.lint.refusals import InstalledFio
from poolproof.hosts.local import LocalHost
from poolproof.load.fio.option_names import OTHER_RELEASES
from poolproof.presentation.terminal.diagnostics import lines_of
from poolproof.process import Completed
from tests.golden import Message
from tests.unit.foreign.lint.making import source

_HERE = InstalledFio(LocalHost())


def _refused(text: str, name: str = "job.fio", fio: InstalledFio = _HERE) -> list[Diagnostic]:
    found = lint(source(text, name), None, fio)
    return [each for each in found if each.rule in ("refused-by-fio", "unknown-option")]


def _without_version(text: str) -> str:
    return re.sub(r"^fio-[\d.]+", "fio", text)


def test_a_value_that_only_fio_can_refuse_is_an_error_at_its_line_in_its_words() -> None:
    (found,) = _refused("[a]\nrw=write\nsync=zoo\nsize=1m\n")
    assert (found.line, found.severity) == (3, "error")
    assert "sync=zoo: " in found.message and "dsync" in found.message
    assert "`fio --cmdhelp=sync`" in found.fix


def test_every_refused_value_of_every_job_is_told_with_its_own_words(message: Message) -> None:
    text = "[a]\nsize=1m\nrwmixread=140\n[b]\nsize=1m\nbssplit=4k/50:zz/\nrate_process=zz\n"
    found = {each.line: each.message for each in _refused(text)}
    assert list(found) == [3, 6, 7]
    assert message(_without_version(found[3])).endswith(" 140 (100 max)") and "rwmixread=140" in found[3]
    assert found[6].endswith("refuses bssplit=4k/50:zz/")
    assert message(_without_version(found[7])).endswith(" linear, poisson") and "rate_process=zz" in found[7]


def test_a_global_option_is_told_once() -> None:
    (found,) = _refused("[global]\nsync=zoo\nsize=1m\n[a]\nrw=write\n[b]\nrw=write\n")
    assert found.line == 2


def test_a_number_that_fio_ignores_is_a_warning() -> None:
    (found,) = _refused("[a]\nsize=1m\niodepth=-4\n")
    assert (found.line, found.severity) == (3, "warning")
    assert "ignores iodepth=-4" in found.message


def test_a_command_line_is_shown_to_fio_too() -> None:
    (found,) = _refused("true\nfio --name=a --rw=write --size=1m --sync=zoo\n", "x.sh")
    assert (found.line, found.severity) == (2, "error")


def test_an_option_that_this_fio_does_not_have_yet_is_a_warning() -> None:
    names = _HERE.names("psync")
    assert names is not None
    option = min(name for name in OTHER_RELEASES - names if "_" in name)
    (found,) = _refused(f"[a]\nsize=1m\n{option}=1\n")
    assert (found.line, found.severity, found.rule) == (3, "warning", "unknown-option")


@pytest.mark.parametrize(
    "text",
    [
        "[a]\nsync=${MODE}\nsize=1m\n",
        "[a]\nsize=${SIZE}\n",
        "[a]\nsize=$mb_memory*0.5\nbs=$pagesize\n",
        "[a]\nioengine=external:/not/here.so\nsize=1m\n",
        "[a]\nioengine=rbd\npool=rbd\nrbdname=x\nsize=1m\n",
        "[a]\ndirectory=/not/here\nfilename=a:b\nsize=1m\n",
        "[a]\nsize=1m\nverify=crc32c\nverify_pattern='/not/here'\n",
        "[a]\nsize=1m\ncpus_allowed=0-4095\nnuma_cpu_nodes=7\n",
        "[a]\nsize=1m\ninclude shared.inc\n",
        "[a]\nsize=1m\nthreads=1\n",
        "[a]\nsize=1m\nmem=cudamalloc\n",
    ],
)
def test_what_hangs_on_the_machine_or_is_not_known_is_not_refused(text: str) -> None:
    assert _refused(text) == []


def test_nothing_is_run_and_nothing_is_made(tmp_path: Path) -> None:
    text = (
        f"[a]\nrw=write\nsize=1m\nfilename={tmp_path}/f\nexec_prerun=touch {tmp_path}/ran\nwrite_bw_log={tmp_path}/l\n"
    )
    assert _refused(text) == []
    assert list(tmp_path.iterdir()) == []


class _WithoutFio(LocalHost):
    """This machine, but without fio."""

    def run(self, argv: Sequence[str], *, timeout_s: float, stdin: str | None = None, check: bool = True) -> Completed:
        words = ["no-such-fio", *argv[1:]] if argv[0] == "fio" else argv
        return super().run(words, timeout_s=timeout_s, stdin=stdin, check=check)


def test_without_fio_nothing_is_said() -> None:
    assert _refused("[a]\nsync=zoo\nsize=1m\n", fio=InstalledFio(_WithoutFio())) == []


def test_each_fix_fits_its_message(message: Message) -> None:
    missing = lint(source("[a]\ninclude gone.inc\nrw=read\nsize=1g\nbs=1m\n"))
    assert ["create the file" in each.fix for each in missing if "included file" in each.message] == [True]
    unknown = next(each for each in lint(source('fio --name=a "$@"\n', "b.sh")) if each.rule == "unknown-variable")
    assert "complete command" in message(unknown.fix) and message(unknown.message)


def test_the_last_line_counts_the_most_severe_first() -> None:
    kinds: tuple[Severity, ...] = ("note", "warning", "error", "note")
    found = [Diagnostic("a.fio", 1, "rule", severity, "message", "fix") for severity in kinds]
    assert [*lines_of(found)][-1] == "1 error, 1 warning, 2 notes"


@pytest.mark.parametrize("engine", ["./libfio_cluster.so", "external:/opt/engine.so", "spdk_bdev"])
def test_an_engine_that_is_not_part_of_fio_has_options_of_its_own(engine: str) -> None:
    call = f"fio --name=a --ioengine={engine} --rw=randread --bs=4k --size=1g --direct=1 --zz_conf=x"
    assert [each.severity for each in _refused(f"{call}\n", "b.sh")] == ["note"]
    assert [each.severity for each in _refused(f"{call.replace('--zz_conf', '-etcd')}\n", "b.sh")] == ["note"]
    assert [each.rule for each in _refused(f"{call.replace('size', 'sise')}\n", "b.sh")][:1] == ["refused-by-fio"]


def test_an_option_of_a_later_release_is_not_refused() -> None:
    (found,) = _refused("[a]\nrw=read\nsize=1g\nioengine=libaio\ndirect=1\ncmdprio_percentage=5\ncmdprio_hint=1\n")
    assert (found.line, found.rule) == (7, "unknown-option")


def test_the_options_of_an_external_engine_are_one_finding() -> None:
    job = "[a]\nioengine=external:/lib/own.so\nrw=read\nbs=1m\nsize=1g\n"
    text = f"{job}oi_attr_len=350\npglog_simulation=1\ncheck_files=1\n"
    (found,) = [each for each in lint(source(text)) if each.rule == "unknown-option"]
    assert (found.line, found.severity) == (6, "note")
    assert "'oi_attr_len' and 2 more" in found.message and "may have them" in found.message
