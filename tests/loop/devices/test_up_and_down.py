"""Each kind of device can be created, stores data, and leaves nothing behind when it is removed."""

import os
from pathlib import Path

import pytest

from poolproof.campaign.model import Device, DeviceSource, Emulated, LoopFile, Qcow2
from poolproof.devices.emulated import model
from poolproof.devices.emulated.model import MODELS
from poolproof.devices.model import Site
from poolproof.facts.block import block_devices, loop_facts
from poolproof.layers.layer_catalogue import device_under

from .real_devices import HOST, created

pytestmark = pytest.mark.parallel

_SIZE = 256 << 20
_SOURCES = [LoopFile(_SIZE), Qcow2(_SIZE), *(Emulated(name, _SIZE) for name in MODELS)]


def _called(source: DeviceSource) -> str:
    return source.model if isinstance(source, Emulated) else type(source).__name__


@pytest.mark.parametrize("source", _SOURCES, ids=_called)
def test_a_device_stores_data_and_leaves_nothing(source: DeviceSource, site: Site) -> None:
    pattern = os.urandom(1 << 20)
    with created(Device("d1", source), site) as volume:
        assert int(HOST.run(["blockdev", "--getsize64", volume.path], timeout_s=10).stdout) == _SIZE
        _write(volume.path, pattern, 64 << 20)
        HOST.run(["blockdev", "--flushbufs", volume.path], timeout_s=30)
        assert _read(volume.path, len(pattern), 64 << 20) == pattern
        assert HOST.read(volume.leaves[0].counter.replace("/stat", "/loop/dio")).strip() == "1"
        assert Path(volume.leaves[0].counter).read_text().split()[0] != "0"
    _nothing_is_left(site)


@pytest.mark.parametrize("name", MODELS)
def test_the_kernel_knows_whether_the_disk_is_rotational(name: str, site: Site) -> None:
    with created(Device("d1", Emulated(name, _SIZE)), site) as volume:
        facts = next(device for device in block_devices(HOST) if device.path == volume.path)
        assert facts.rotational == name.startswith("hdd")


def test_discarded_blocks_are_freed_and_read_as_zeroes(site: Site) -> None:
    with created(Device("d1", Emulated("nvme", _SIZE)), site) as volume:
        _write(volume.path, os.urandom(8 << 20), 0)
        store = Path(site.ram_dir) / "d1.store"
        full = store.stat().st_blocks * 512
        HOST.run(["blkdiscard", "--offset", "0", "--length", str(8 << 20), volume.path], timeout_s=30)
        HOST.run(["blockdev", "--flushbufs", volume.path], timeout_s=30)
        assert full >= 8 << 20
        assert store.stat().st_blocks * 512 <= full - (8 << 20)
        assert _read(volume.path, 8 << 20, 0) == bytes(8 << 20)


def test_a_model_with_an_unknown_parameter_does_not_start(site: Site) -> None:
    argv = ["nbdkit", "-U", "-", "python", *_plugin_settings(site), "spindles=2", "--run", "true"]
    completed = HOST.run(argv, timeout_s=20, check=False)
    assert completed.returncode != 0
    assert "'spindles' is not a parameter of this model" in completed.stderr


def test_both_devices_of_a_btrfs_are_found(site: Site, tmp_path: Path) -> None:
    point = tmp_path / "mnt"
    point.mkdir()
    with (
        created(Device("d1", LoopFile(_SIZE)), site) as one,
        created(Device("d2", LoopFile(_SIZE)), site) as two,
    ):
        HOST.run(["mkfs.btrfs", "-q", "-d", "raid0", "-m", "raid1", one.path, two.path], timeout_s=60)
        HOST.run(["mount", "-o", f"device={one.path},device={two.path}", one.path, str(point)], timeout_s=30)
        try:
            found = {below.device for below in device_under(HOST, str(point))}
        finally:
            HOST.run(["umount", str(point)], timeout_s=30)
        assert found == {Path(one.path).name, Path(two.path).name}


def test_a_device_whose_server_was_killed_can_be_removed(site: Site) -> None:
    with created(Device("d1", Emulated("nvme", _SIZE)), site) as volume:
        with Path(volume.path).open("r+b", buffering=0) as device:
            device.write(os.urandom(4 << 20))
            HOST.run(["kill", "-KILL", (Path(site.state_dir) / "d1.nbd.pid").read_text().strip()], timeout_s=10)
        with pytest.raises(OSError, match="Input/output error"):
            _read(volume.path, 4096, 128 << 20)
    _nothing_is_left(site)


def test_a_file_system_in_ram_has_no_device() -> None:
    assert device_under(HOST, "/dev/shm") == ()


def _plugin_settings(site: Site) -> tuple[str, ...]:
    plugin = Path(model.__file__).parent / "plugin.py"
    return (str(plugin), "model=nvme", f"size={_SIZE}", f"store={site.ram_dir}/unused.store")


def _write(path: str, data: bytes, offset: int) -> None:
    with Path(path).open("r+b", buffering=0) as device:
        device.seek(offset)
        device.write(data)
        os.fsync(device.fileno())


def _read(path: str, length: int, offset: int) -> bytes:
    with Path(path).open("rb") as device:
        device.seek(offset)
        return device.read(length)


def _nothing_is_left(site: Site) -> None:
    assert [loop for loop in loop_facts(HOST) if loop.backing_file.startswith(site.state_dir)] == []
    assert site.state_dir not in Path("/proc/self/mounts").read_text()
    running = [process for process in Path("/proc").glob("[0-9]*/cmdline") if _names(process, site.state_dir)]
    assert running == []


def _names(command_line: Path, text: str) -> bool:
    try:
        return text in command_line.read_text(errors="replace")
    except OSError:
        return False
