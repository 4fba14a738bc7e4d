"""The acceleration with which a lab boots, tested with a substitute for QEMU that fails like a broken KVM."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from poolproof.errors import HostError
from poolproof.hosts.local import LocalHost
from poolproof.lab import boot as boot_module
from poolproof.lab.boot import READY, Acceleration, Boot, accelerators, boot, kvm_result, remember_kvm
from poolproof.lab.labs import Image, owned_by_lab
from poolproof.provision.journal import Journal
from poolproof.provision.undo import undo_all

pytestmark = pytest.mark.timeout(60)

# Each start adds a line to `tries`. The test decides what each of them does.
_QEMU = """\
#!/bin/sh
folder={folder}
case "$*" in
*"-accel kvm"*) echo kvm >>$folder/tries; how={kvm} ;;
*) echo tcg >>$folder/tries; how={tcg} ;;
esac
[ $how = refuses ] && {{ echo "failed to initialize kvm: Operation not permitted" >&2; exit 1; }}
setsid sh -c 'while sleep 0.2; do :; done' $folder/qemu.pid >/dev/null 2>&1 </dev/null &
while ! grep -qs "^sh" /proc/$!/cmdline; do :; done  # a QEMU that says it runs is itself, not a fork before exec
echo $! >$folder/qemu.pid
[ $how = hangs ] || echo "{ready}" >$folder/console.log
[ $how != crashes ] || {{ echo "Kernel panic" >$folder/console.log; kill -KILL $!; }}
"""


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Boot]:
    """A machine to boot, on a host with a /dev/kvm that has not been tried yet."""
    folder, device = tmp_path / "m", tmp_path / "kvm"
    folder.mkdir()
    device.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    key = tmp_path / "poolproof" / "lab" / "key.pub"
    key.parent.mkdir(parents=True)
    key.write_text("ssh-ed25519 AAAA test\n")
    (key.parent / "key").write_text("private\n")
    monkeypatch.setattr(boot_module, "_KVM", device)
    monkeypatch.setattr(boot_module, "KVM_LIMIT_S", 3.0)
    made = Boot("m", 1 << 30, 1, 0, Image(tmp_path / "image"), folder, (), Journal(folder / "journal.jsonl"))
    yield made
    undo_all(made.journal, LocalHost(), owned_by_lab(made.folder))


def _stand_in(asked: Boot, monkeypatch: pytest.MonkeyPatch, kvm: str, tcg: str = "ready") -> None:
    """Set how QEMU behaves from now on: `ready`, `refuses`, `hangs` or `crashes`."""
    programs = asked.folder.parent / "bin"
    programs.mkdir(exist_ok=True)
    program = programs / "qemu-system-x86_64"
    program.write_text(_QEMU.format(folder=asked.folder, kvm=kvm, tcg=tcg, ready=READY))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")


def _tries(asked: Boot) -> list[str]:
    return (asked.folder / "tries").read_text().split()


@pytest.mark.parametrize(
    ("kvm", "why"), [("refuses", "failed to initialize kvm"), ("hangs", "the guest was not ready after")]
)
def test_a_broken_kvm_is_tried_once_and_the_result_is_saved(
    asked: Boot, monkeypatch: pytest.MonkeyPatch, kvm: str, why: str
) -> None:
    _stand_in(asked, monkeypatch, kvm)
    said: list[str] = []
    assert boot(asked, "auto", said.append)[0] == "tcg"
    assert _tries(asked) == ["kvm", "tcg"]
    assert why in said[0]
    undo_all(asked.journal, LocalHost(), owned_by_lab(asked.folder))
    assert boot(asked, "auto", said.append)[0] == "tcg"
    assert _tries(asked) == ["kvm", "tcg", "tcg"]


def test_a_working_kvm_is_used_and_the_result_is_saved(asked: Boot, monkeypatch: pytest.MonkeyPatch) -> None:
    _stand_in(asked, monkeypatch, "ready")
    assert boot(asked, "auto", lambda _: None)[0] == "kvm"
    memory = kvm_result()
    assert memory is not None
    assert memory.works


@pytest.mark.parametrize("later", ["refuses", "hangs"])
def test_a_kvm_that_breaks_later_is_tried_once_more(asked: Boot, monkeypatch: pytest.MonkeyPatch, later: str) -> None:
    _stand_in(asked, monkeypatch, "ready")
    boot(asked, "auto", lambda _: None)
    undo_all(asked.journal, LocalHost(), owned_by_lab(asked.folder))
    _stand_in(asked, monkeypatch, later)
    assert boot(asked, "auto", lambda _: None)[0] == "tcg"
    undo_all(asked.journal, LocalHost(), owned_by_lab(asked.folder))
    assert boot(asked, "auto", lambda _: None)[0] == "tcg"
    assert _tries(asked) == ["kvm", "kvm", "tcg", "tcg"]


@pytest.mark.parametrize("how", ["refuses", "crashes"])
def test_if_emulation_fails_too_nothing_is_saved_about_kvm(
    asked: Boot, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    _stand_in(asked, monkeypatch, how, how)
    with pytest.raises(HostError, match=r"QEMU|guest") as caught:
        boot(asked, "auto", lambda _: None)
    assert "--accel tcg" not in caught.value.hint
    assert _tries(asked) == ["kvm", "tcg"]
    assert kvm_result() is None
    assert not asked.journal.outstanding()


def test_kvm_is_tried_again_after_a_forced_start_worked(asked: Boot, monkeypatch: pytest.MonkeyPatch) -> None:
    remember_kvm(False, "the machine was busy")
    _stand_in(asked, monkeypatch, "ready")
    boot(asked, "kvm", lambda _: None)
    assert accelerators("auto") == ("kvm", "tcg")


@pytest.mark.parametrize(("wish", "tried"), [("kvm", ["kvm"]), ("tcg", ["tcg"])])
def test_only_the_requested_acceleration_is_tried(
    asked: Boot, monkeypatch: pytest.MonkeyPatch, wish: Acceleration, tried: list[str]
) -> None:
    _stand_in(asked, monkeypatch, "refuses")
    if wish == "kvm":
        with pytest.raises(HostError, match=r"QEMU .*initialize kvm"):
            boot(asked, wish, lambda _: None)
    else:
        boot(asked, wish, lambda _: None)
    assert _tries(asked) == tried
