"""Jobs that overwrite a device with data on it are errors, regardless of how they are written.

If the machine can't be examined, they are warnings.
"""

import time
from pathlib import Path

import pytest

from poolproof.foreign.lint.check import lint
from poolproof.foreign.lint.model import Diagnostic, WrittenDevice
from poolproof.foreign.lint.sources import Source, read_sources
from tests.golden import Message

from .making import KnownTarget, said

_MOUNTED = WrittenDevice(True, True, "is mounted at /")
_EMPTY = WrittenDevice(True, True)
_FILE = WrittenDevice(True)


class Machine(KnownTarget):
    """A machine with a mounted disk that has several names, an empty disk, and files."""

    def written(self, path: object) -> WrittenDevice | None:
        if str(path) in ("/dev/vda", "/dev/vda1", "/dev/vd?", "/dev/disk/by-id/ata-X", "/srv/link", "/dev/ng0n1"):
            return _MOUNTED
        if path == "/dev/vdb":
            return _EMPTY
        return WrittenDevice(False) if str(path).startswith("/dev/gone") else _FILE


class Here(Machine):
    """The same machine, if lint knows nothing about other machines."""

    def seen_from(self, place: object) -> Machine | None:
        return None if place == "machine" else self


def _found(text: str, *, machine: bool = True, name: str = "job.sh") -> list[Diagnostic]:
    found = lint(Source(name, text), Machine() if machine else None)
    return [each for each in found if each.rule == "destroys-data"]


@pytest.mark.parametrize(
    "text",
    [
        "fio --name=a --rw=write --filename=/dev/vda", "fio --name=a --rw=randrw --filename=/dev/vda1",
        "fio -name a -readwrite randwrite -filename /dev/disk/by-id/ata-X",
        "fio --name=a --rw=trim --filename=/dev/vda",
        "fio --name=a --rw=write --filename=/srv/x:/dev/vda", "fio --name=a --rw=write --directory=/dev --filename=vda",
        "fio --name=/dev/vda --rw=write", "fio --name=a --rw=write --filename=/srv/link",
        "fio --name=a --rw=write --filename=/dev/../dev//vda", "[a]\nrw=write\nfilename=/dev/vda\n",
        "[global]\nfilename=/dev/vda\n[r]\nrw=read\n[w]\nrw=randtrim\n",
        "fio --name=a --rw=randtrimwrite --filename=/dev/vda",
        "D=/dev/vda\nfio --name=a --rw=write --filename=$D", "ssh host 'fio --name=a --rw=write --filename=/dev/vda'",
        "for d in /dev/vdb /dev/vda; do\n  fio --name=a --rw=write --filename=$d\ndone",
        "for d in vd{a,b}; do fio --name=a --rw=write --filename=/dev/${d}; done",
        "for rw in read write; do fio --name=a --rw=$rw --filename=/dev/vda; done",
        "fio --name=a --rw=write --ioengine=io_uring_cmd --cmd_type=nvme --filename=/dev/ng0n1",
        "fio --name=a --rw=rw --rwmixread=99 --filename=/dev/vda",
        "cd /dev; fio --name=a --rw=write --filename=vda", "cd /srv && cd ../dev\nfio --name=vda --rw=write",
        "(cd /dev && fio --name=a --rw=write --filename=vda)",
        "cd / && fio --name=a --rw=write --directory=dev --filename=vda",
        "pushd /dev\nfio --name=a --rw=write --filename=vda\npopd",
        "cd /dev\nsudo sh -c 'fio --name=a --rw=write --filename=vda'",
        "ssh host 'cd /dev; fio --name=a --rw=write --filename=vda'",
        "pushd /dev; cd /srv; cd -; fio --name=a --rw=write --filename=vda",
        "for d in /dev /srv; do cd $d; fio --name=a --rw=write --filename=vda; done",
        "cd /dev\nfio - <<EOF\n[a]\nrw=write\nfilename=vda\nEOF\n",
        "x=$(cd /dev; fio --name=a --rw=write --filename=vda)",
        "cd /dev\nif test -d /srv; then cd /srv; exit; else fio --name=a --rw=write --filename=vda; fi",
        "[global]\nrw=write\nfilename_format=/dev/$jobname\n[vda]\n",
        "if [ $1 ]; then D=/dev/vda; else D=/dev/vda1; fi\nfio --name=a --rw=write --filename=$D",
        "wipe() { fio --name=a --rw=write --filename=$1; }\nwipe /dev/vda",
        "function wipe {\n  local to=$2\n  fio --name=a --rw=write --filename=$to\n}\nwipe 1 /dev/vda; wipe 4 /dev/vd0",
        "D=(/dev/vdb /dev/vda)\nfor i in ${!D[@]}; do fio --name=a --rw=write --filename=${D[$i]}; done",
        "fio --name=a --rw=write --filename=//dev/vda", "fio --name=a --rw=write --directory=/ --filename=dev/vda",
        "cd / && fio --name=a --rw=write --filename=dev/vda", "[a]\nrw=write\nfilename=/proc/self/root/dev/vda\n",
        "fio --name=a --rw=write --filename=/proc/1/root//dev/vda",
        "fio --name=a --rw=read --filename=/srv/x --write_iolog=/dev/vda",
        "fio --name=a --rw=read --filename=/srv/x --iomem=mmapshared:/dev/vda",
        "fio --profile=act --device-names=/dev/vdb,/dev/vda --load=1",
        "D ?= /dev/vda\nt:\n\tfio --name=a --rw=write --filename=$(D)",
        "for d in /dev/vd?; do fio --name=a --rw=write --filename=$d; done",
        "fio --name=a --rw=write --filename=/dev/vd{a,b}",
        "docker run --rm --privileged -v /dev:/dev me/fio:3.36 --name=a --rw=write --filename=/dev/vda",
        "d=/dev/vda; t=$d\nfio --name=a --rw=write --filename=$t",
        "d=${1:-/dev/vda}\nrun() { fio --name=$1 --rw=$1 --filename=$d; }\nrun read\nrun write",
        "d=${1:-${DISK:-/dev/vda}}\nrun() { fio --name=$1 --rw=write --filename=$d; }\nrun a",
        ": ${D:=/dev/vda}\nfio --name=a --rw=write --filename=$D",
        "D=/dev/vda\nwhile getopts d: o; do D=$OPTARG; done\nfio --name=a --rw=write --filename=$D",
        "D=\n[ $1 ] && D=/dev/vda\nfio --name=a --rw=write --filename=$D",
        "D=(/dev/vdb)\nD+=(/dev/vda)\nfio --name=a --rw=write --filename=${D[1]}",
        'D=(/dev/vdb /dev/vda)\nfio --name=a --rw=write --filename="$(IFS=:; echo "${D[*]}")"',
        "fio --name=a --rw=write --filename=$(readlink -f /dev/disk/by-id/ata-X)",
        "run() {\n  local d=$1 rw=$2\n  fio --name=a --rw=$rw --filename=$d\n}\nrun /srv/x write\nrun /dev/vda write",
        "one() { fio --name=a --rw=$2 --filename=$1; }\nall() {\n  one $1 read\n  one $1 write\n}\nall /dev/vda",
        "one() { fio --name=a --rw=write --filename=$1; }\nfor d in vda; do one /dev/$d; done",
        "docker exec c sh <<'EOF'\nfor d in vdb vda; do\n  fio --name=a --rw=write --filename=/dev/$d\ndone\nEOF\n",
        "bash <<EOF\nfor d in vdb vda; do\n  D=/dev/\\$d\n  fio --name=a --rw=write --filename=\\$D\ndone\nEOF\n",
    ],
)  # fmt: skip
def test_every_spelling_of_a_write_to_a_disk_in_use_is_an_error(text: str) -> None:
    (found, *_) = _found(text)
    assert found.severity == "error" and "is mounted at /" in found.message and "--readonly" in found.fix


@pytest.mark.parametrize(
    "text",
    [
        "fio --name=a --rw=read --filename=/dev/vda", "fio --readonly --name=a --rw=write --filename=/dev/vda",
        "fio --name=a --rw=write --filename=/dev/vdb", "fio --name=a --rw=write --directory=/srv",
        "fio --name=a --rw=write --filename=/dev/shm/x", "fio --name=a --rw=write --filename=/dev/null",
        "fio --name=a --rw=write --ioengine=null --filename=/dev/vda", "fio --name=a --filename=/dev/vda",
        "fio --name=a --rw=write --verify=md5 --verify_only --filename=/dev/vda",
        "fio --name=a --rw=write --create_only=1 --filename=/dev/vda",
        "fio --name=a --rw=rw --rwmixread=100 --filename=/dev/vda", "fio --name=a --rw=$1 --filename=/dev/vda",
        "for rw in read randread; do fio --name=a --rw=$rw --filename=/dev/vda; done",
        "fio --name=a --rw=write --filename=vda", "cd /dev; fio --name=a --rw=write --filename=/srv/x",
        "(cd /dev; ls); fio --name=a --rw=write --filename=vda",
        "cd /dev; cd /srv; fio --name=a --rw=write --filename=vda",
        "pushd /dev; popd; fio --name=a --rw=write --filename=vda",
        "cd /dev; ssh h 'fio --name=a --rw=write --filename=vda'",
        "if test -d /x; then cd /dev; else cd /srv; fi\nfio --name=a --rw=write --filename=vda",
        "cd $1\nfio --name=a --rw=write --filename=vda", "cd /dev; cd; fio --name=a --rw=write --filename=vda",
        "fio --name=a --rw=write --directory=/srv --filename=/dev/vda", "[vda]\nrw=write\ndirectory=/dev\n",
        "fio --parse-only --name=a --rw=write --filename=/dev/vda",
        "wipe() { fio --name=a --rw=write --filename=$1; }\nwipe /srv/x\n", "fio --profile=act --device-names=/dev/vdb",
        "fio --name=a --rw=read --filename=/srv/x --mem=mmap:/dev/vda --write_iolog=/srv/log",
        "fio --name=a --rw=write --filename=$(pwd)",
        "x() { fio --name=a --rw=write --filename=$1; }\ny() { smartctl $1; }\ny /dev/vda\ntime x /srv/x\n",
        "wipe() { fio --name=a --rw=write --filename=$1; }\nmount /dev/vda /srv\n",
        "cat > README.md <<EOF\n  fio --name=a --rw=write --filename=/dev/vda\nEOF\n",
        "D=/dev/vda\nD=/srv/x\nfio --name=a --rw=write --filename=$D",
        "fio --name=a --rw=write --filename={{ device }}",
        "ls /srv/* | xargs -I{} fio --name=a --rw=write --filename={}",
        "run() { fio --name=a --rw=$2 --filename=$1; }\nrun /srv/x write\nrun /dev/vda read",
        "w() { fio --name=a --rw=write --filename=$1; }\nr() { fio --name=a --filename=$1; }\nw /srv/x\nr /dev/vda",
        "D=(/dev/vdb)\nD+=(/dev/vda)\nfio --name=a --rw=write --filename=${D[0]}",
        "fio --name=a --rw=write --filename=$(df --output=source /dev/vda)/x",
        "D=${1:-/srv/x}\nf() { fio --name=a --rw=write --filename=$D; }\nf x",
        'test -b "$2" && cat "$2"\nfio --name=a --rw=write --filename=$1',
    ],
)  # fmt: skip
def test_what_destroys_nothing_is_not_reported(text: str) -> None:
    assert _found(text) == []


@pytest.mark.parametrize(
    "text", ["fio --name=a --rw=write --filename=/dev/sdq", "[a]\nrw=randtrim\nfilename=/dev/sdq\n"]
)
def test_without_a_machine_each_write_to_a_device_is_a_warning(text: str) -> None:
    (found,) = _found(text, machine=False)
    assert found.severity == "warning" and "/dev/sdq" in found.message


def test_a_device_that_does_not_exist_and_an_unknown_one_are_warnings(message: Message) -> None:
    (gone,) = _found("fio --name=a --rw=write --filename=/dev/gone")
    (unknown,) = _found("fio --name=a --rw=write --filename=/dev/$DISK")
    assert [gone.severity, unknown.severity] == ["warning", "warning"]
    assert "this machine" in message(gone.message)


@pytest.mark.parametrize(
    ("text", "device"),
    [
        ('D="/dev/$1"\nfio --name=a --rw=write --filename=$D', "/dev/$1"),
        ("fio --name=a --rw=write --filename=/dev/{{ disk }}", "/dev/{{ disk }}"),
        ("sudo fio --filename=/dev/<disk> --rw=write --name=a", "/dev/<disk>"),
        ("ls | xargs -I{} fio --name=a --rw=write --filename=/dev/{}", "/dev/{}"),
        ("fio --name=a --rw=write --ioengine=spdk '--filename=trtype=PCIe traddr=0000.01.00.0 ns=1'", "trtype=PCIe"),
        ("fio --name=a --read_iolog=t.bin --replay_redirect=/dev/vda", "/dev/vda"),
        ('D=$1\nif [ ! -b "$D" ]; then exit 1; fi\nfio --name=a --rw=write --filename=$D', "$D"),
        ('[ -b "$1" ] || exit\nD=$1\nfio --name=a --rw=write --filename=$D', "$D"),
    ],
)
def test_a_device_that_may_lose_its_data_is_a_warning(text: str, device: str) -> None:
    (found,) = _found(text)
    assert found.severity == "warning" and device in found.message


@pytest.mark.parametrize(
    ("text", "is_device"),
    [
        ("lsblk -dpno NAME | while read -r d; do {}$d; done", True),
        ("ls /dev/sd? | while read d; do {}$d; done", True),
        ("ls /dev/sd? | xargs -I{{}} {}{{}}", True), ("parallel {}{{}} ::: /dev/sda /dev/sdb", True),
        ("ls /mnt/* | while read d; do {}$d; done", False), ("ls /mnt 2>/dev/null | xargs -I{{}} {}{{}}", False),
        ("ls /dev/sd? | while read other; do {}$d; done", False), ("parallel {}{{}} ::: /mnt/a /mnt/b", False),
    ],
)  # fmt: skip
def test_devices_that_come_through_a_pipe(text: str, is_device: bool) -> None:
    script = text.format("fio --name=a --rw=write --size=1g --filename=") + "\n"
    assert bool(_found(script, machine=False)) is is_device


@pytest.mark.parametrize(
    ("command", "is_in_use"),
    [
        ("echo /dev/vda", True), ("printf '%s\\n' /dev/vdz /dev/vda", True),
        ("echo /dev/vda /dev/vdz", False), ("echo /mnt/a", False),
    ],
)  # fmt: skip
def test_a_device_that_a_loop_reads_from_a_pipe(command: str, *, is_in_use: bool) -> None:
    script = f"{command} | while IFS= read -r d; do\n  fio --name=a --rw=write --size=1g --filename=$d\ndone\n"
    assert ("error" in {each.severity for each in _found(script)}) is is_in_use


def test_an_unknown_device_is_named_as_in_the_job() -> None:
    text = "while getopts d: o; do disk=$OPTARG; done\nfio --name=a --rw=write --size=1g --filename=/dev/$disk\n"
    assert [each.message for each in _found(text, machine=False) if "device /dev/$disk and" in each.message]


def test_a_long_list_of_devices_takes_little_time() -> None:
    """Each device was compared with all links of the script, which took minutes for 20,000 devices."""
    names = ":".join(f"/dev/sd{number}" for number in range(4000))
    began = time.process_time()
    assert _found(f"fio --name=a --rw=write --filename={names}\n{'x' * 99} \n" + "ln -s a b\n" * 2000, machine=False)
    assert time.process_time() - began < 10


def test_the_options_of_a_replayed_trace_say_nothing_about_its_io() -> None:
    text = "fio --name=a --read_iolog=t.bin --bs=4k --size=1g --runtime=60"
    assert {each.rule for each in lint(Source("job.sh", text), Machine())} == set()
    assert lint(Source("job.sh", text.replace("--read_iolog=t.bin", "")), Machine()) != ()


def test_a_replayed_trace_without_a_device_and_a_trace_in_files() -> None:
    assert _found("fio --name=a --read_iolog=t.bin --filename=/dev/vda --rw=write") == []
    assert _found("fio --name=a --read_iolog=t.bin --replay_redirect=/srv/x") == []


def _of_files(words: list[str]) -> set[str]:
    return {each.rule for source in read_sources(words, {}, {}) for each in lint(source, Machine())}


def test_options_on_the_command_apply_to_the_first_job_file(tmp_path: Path) -> None:
    first, second = tmp_path / "a.fio", tmp_path / "b.fio"
    first.write_text("[a]\nbs=4k\n")
    second.write_text("[b]\nbs=4k\nfilename=/dev/vda\n")
    assert "destroys-data" in _of_files(["fio", "--rw=write", "--filename=/dev/vda", str(first)])
    assert "destroys-data" in _of_files(["fio", str(first), "--rw=write", "--filename=/dev/vda"])
    assert "destroys-data" not in _of_files(["fio", str(first), str(second), "--rw=write"])


def test_only_the_named_sections_run(tmp_path: Path) -> None:
    job = tmp_path / "a.fio"
    job.write_text("[global]\nfilename=/dev/vda\n[r]\nrw=read\n[w]\nrw=write\n")
    assert "destroys-data" not in _of_files(["fio", "--section=r", str(job)])
    assert "destroys-data" in _of_files(["fio", "--section=r", "--section=w", str(job)])


def test_readonly_on_the_command_also_holds_for_its_job_files(tmp_path: Path) -> None:
    job = tmp_path / "w.fio"
    job.write_text("[a]\nrw=write\nfilename=/dev/vda\n")
    path, none = str(job), set[str]()
    for words, rules in ((["fio", "--readonly", path], none), (["fio", "--minimal", path], {"destroys-data"})):
        sources = read_sources(words, {}, {})
        found = {each.rule for source in sources for each in lint(source, Machine())}
        assert found & {"destroys-data"} == rules


@pytest.mark.parametrize(
    "text",
    [
        "echo 'fio --name=a --rw=write --filename=/dev/vda' | ssh host",
        "echo fio --name=a --rw=write --filename=/dev/vda | sudo ssh host sh",
        'ssh host "fio --name=a --rw=write --filename=/dev/vda"',
        "cat <<EOF | ssh host bash\nfio --name=a --rw=write --filename=/dev/vda\nEOF\n",
        "sshpass -p x ssh host <<EOF\nfio --name=a --rw=write --filename=/dev/vda\nEOF\n",
        "kubectl exec p -- fio --name=a --rw=write --filename=/dev/vda",
        "salt '*' cmd.run 'fio --name=a --rw=write --filename=/dev/vda'",
        "ansible all -b -a 'fio --name=a --rw=write --filename=/dev/vda'",
    ],
)
def test_this_machine_shows_nothing_about_devices_of_another_one(text: str) -> None:
    (found,) = [each for each in lint(Source("job.sh", text), Here()) if each.rule == "destroys-data"]
    assert found.severity == "warning" and "cannot tell" in found.message


@pytest.mark.parametrize(
    ("name", "severity"),
    [("play.yml", "warning"), ("job.yaml", "warning"), ("Dockerfile", "error"), ("run.sh", "error")],
)
def test_a_playbook_runs_on_another_machine(name: str, severity: str) -> None:
    found = lint(Source(name, "shell: fio --name=a --rw=write --filename=/dev/vda\n"), Here())
    assert [each.severity for each in found if each.rule == "destroys-data"] == [severity]


def test_a_windows_device_is_a_warning() -> None:
    (found,) = _found("fio --name=a --rw=write --filename=\\\\.\\PhysicalDrive1")
    assert found.severity == "warning" and "\\\\.\\PhysicalDrive1" in found.message
    assert _found("fio --name=a --rw=write --filename=C\\:\\a:D\\:\\b") == []


@pytest.mark.parametrize(
    "devices", [("/dev/vda", "/dev/vda1"), ("/dev/gone1", "/dev/gone2"), ("/dev/vda", "/dev/gone1")]
)
def test_each_device_of_a_loop_is_named(devices: tuple[str, str]) -> None:
    """A loop over other values, such as block sizes, still has one finding per device."""
    both = " ".join(devices)
    job = "fio --name=a --rw=randwrite --bs=$bs --size=1g --direct=1 --filename=$d"
    found = _found(f"for bs in 4k 64k; do for d in {both}; do {job}; done; done")
    assert [sum(f" {device} " in each.message for each in found) for device in devices] == [1, 1]
    assert len(found) == 2


@pytest.mark.parametrize(
    "text",
    [
        "[a]\nopendir=/srv/photos\nrw=randwrite\nbs=4k\n", "fio --name=a --opendir=/srv/photos --rw=write --bs=4k",
        "fio --name=a --opendir=$DIR --rw=randtrim --bs=4k",
    ],
)  # fmt: skip
def test_a_job_that_overwrites_all_files_of_a_folder(text: str) -> None:
    (found,) = _found(text, machine=False)
    assert found.severity == "warning"
    assert "every file below" in found.message
    assert not _found(text.replace("=randwrite", "=read").replace("=write", "=read").replace("=randtrim", "=read"))


@pytest.mark.parametrize(
    "line",
    [
        "D=$(findmnt -no SOURCE /)", 'D="$(sudo findmnt -n -o SOURCE --target /srv)"', "D=`blkid -L data`",
        "D=$(df --output=source / | tail -1)",
        "for D in $(lsblk -dpno NAME | grep nvme); do :; done", "for D in $(nvme list | awk x); do :; done",
    ],
)  # fmt: skip
def test_a_device_that_a_command_prints(line: str) -> None:
    (found,) = _found(f"{line}\nfio --name=a --rw=write --filename=$D\n")
    assert (found.severity, found.line) == ("warning", 2)


def test_a_link_that_the_script_makes() -> None:
    text = "L=/srv/disk\nln -sf /dev/vda $L\nfio --name=a --rw=write --filename=/srv/disk\n"
    (found,) = _found(text)
    assert found.severity == "error"
    assert not _found(text.replace("/dev/vda", "/srv/file"))


@pytest.mark.parametrize(
    ("test", "is_device"),
    [
        ('[ -b "$F" ] || exit 1\n', True),
        ('if [ ! -b "$F" ]; then exit 1; fi\n', True),
        ('if [ -b "$F" ]; then\n', True),
        ("wipefs -a $F\n", True),
        ('if [ -b "$F" ]; then SIZE=100%; else SIZE=1g; fi\n', False),
    ],
)
def test_a_test_for_a_block_device(test: str, is_device: bool) -> None:
    end = "fi\n" if test.endswith("then\n") else ""
    text = f"F=$1\n{test}fio --name=a --filename=$F --rw=write --bs=1m --size=1g --end_fsync=1\n{end}"
    assert ("destroys-data" in {rule for _, _, rule in said(text, name="bench.sh")}) == is_device


def test_a_directory_is_not_a_device() -> None:
    text = "[a]\nrw=write\nsize=9g\nend_fsync=1\nbs=1m\nfilename=/dev/longhorn/"
    assert said(f"{text} # replace\n", name="a.fio") != said(f"{text}v1\n", name="a.fio")
    assert "destroys-data" not in {rule for _, _, rule in said(f"{text} # replace\n", name="a.fio")}
