"""mergerfs over directories: `mergerfs (hdd1 | xfs) (hdd2 | ext4) category.create=epmfs minfreespace=300G`.

Options are passed to mergerfs unchanged. The branches keep the order in which the expression lists them.

mergerfs creates no files on a branch with less free space than `minfreespace` (default: 4G), so small test disks would
stay empty. If the smallest branch is below 16 GiB and the layout does not set `minfreespace`, poolproof therefore sets
it to 1/64 of that branch's size.
"""

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from poolproof.campaign.expression import Option, Word
from poolproof.campaign.names import did_you_mean
from poolproof.devices.model import Site, Volume
from poolproof.errors import HostError
from poolproof.evidence.target_facts import Target
from poolproof.facts.machine import ProgramVersion
from poolproof.layers import arguments
from poolproof.layers.arguments import words
from poolproof.layers.base import HealthCheck, Layer, LayerNode, LayerPlan, OpenLayer, StageReader
from poolproof.layers.branches import with_facts_of_branches
from poolproof.layers.file_system import mount_point, mounted, stored_as_files
from poolproof.layers.option_values import THREADS
from poolproof.steps import Step
from poolproof.undos import UndoMount, UndoPrograms

# mergerfs(1), 2.33 to 2.41
_KEYS = words(
    "allow-idmap async_read auto_cache branches-mount-timeout branches-mount-timeout-fail cache.attr "
    "cache.entry cache.files cache.files.process-names cache.negative_entry cache.open cache.readdir cache.statfs "
    "cache.symlinks cache.writeback category.action category.create category.search congestion_threshold debug "
    "direct-io-allow-mmap dropcacheonclose export-support flush-on-close follow-symlinks fsname fuse_msg_size "
    "fuse-msg-size gid handle-killpriv handle-killpriv-v2 ignorepponrename inodecalc kernel-permissions-check "
    "lazy-umount-mountpoint link-cow link_cow link-exdev log.metrics max_background minfreespace moveonenospc "
    "nfsopenhack noforget nullrw parallel-direct-writes passthrough.io passthrough.max-stack-depth pin-threads "
    "posix_acl posix-acl process-thread-count process-thread-queue-depth proxy-ioprio read-thread-count readahead "
    "remember-nodes rename-exdev scheduling-priority security_capability statfs statfs_ignore statfs-ignore "
    "subtype symlinkify symlinkify_timeout threads uid umask use_ino xattr"
)
_KEYS |= {
    f"func.{name}"
    for name in words(
        "access chmod chown create getattr getxattr link listxattr mkdir mknod open readlink readdir removexattr "
        "rename rmdir setxattr statfs statx symlink truncate unlink utimens"
    )
}
_FLAGS = words(
    "allow_other async_read auto_cache default_permissions defaults direct_io kernel_cache noforget nonempty nosuid "
    "nodev noatime relatime ro sync_read use_ino"
)
_POLICIES = words(
    "all epall epff eplfs eplus epmfs eppfrd eprand erofs ff lfs lup lus mfs msplfs msplus mspmfs msppfrd newest pfrd "
    "rand"
)
_READDIR_POLICIES = frozenset({"seq", "cosr", "cor"})
_SMALL_BYTES = 16 * 1024**3
_MOUNT_LIMIT_S = 30.0


class MergerfsLayer(Layer[tuple[str, ...]]):
    """mergerfs, a FUSE file system that merges several directories (branches) into one.

    Each file is stored on one branch. `spec` contains the options for `-o`. If an option is repeated, the last value is
    used.
    """

    word = "mergerfs"
    summary = "a union of directories, each file on one branch: `mergerfs (hdd1 | xfs) (hdd2 | ext4)`"
    programs = ("mergerfs",)
    packages = ("mergerfs",)
    image_packages = ("fuse3",)
    version = ProgramVersion("mergerfs", ("mergerfs", "--version"))
    file_system = "fuse"
    values = MappingProxyType(dict.fromkeys(("threads", "read-thread-count", "process-thread-count"), THREADS))

    def read(self, reading: StageReader) -> LayerNode:
        found = arguments.sort(reading, self.word)
        options = tuple(_option(reading, argument) for argument in found.rest)
        if not found.inputs:
            raise reading.mistake(None, "mergerfs needs at least one branch: mergerfs (disk1 | ext4) (disk2 | xfs)")
        arguments.check_directories(reading, found.inputs, self.word)
        return LayerNode(self, options, found.nodes)

    def plan(self, spec: tuple[str, ...], inputs: Sequence[Volume], site: Site, name: str) -> LayerPlan:
        point = mount_point(site, name)
        process = UndoPrograms(("mergerfs",), point)
        # this undo runs after the unmount, because a mergerfs that hangs does not notice that it was unmounted
        running = Step("run mergerfs", ("true",), process)
        plan = mounted(self.volume(spec, point, inputs), (running,), _mount(spec, inputs, point))
        check = HealthCheck(f"mergerfs on {point}", ("stat", "--file-system", point), process)
        return replace(plan, health_check=check)

    def capacity_bytes(self, spec: tuple[str, ...], inputs: Sequence[int]) -> int:
        return sum(inputs)

    def largest_file_bytes(self, spec: tuple[str, ...], inputs: Sequence[int]) -> int:
        return max(inputs)

    def describe(self, built: OpenLayer[tuple[str, ...]], target: Target) -> Target:
        return with_facts_of_branches(built, target)

    def stored(self, built: OpenLayer[tuple[str, ...]], total_bytes: int) -> tuple[int, ...]:
        return stored_as_files(built.inputs, total_bytes, built.host)


def _option(reading: StageReader, argument: Word | Option) -> str:
    if isinstance(argument, Word):
        if argument.text not in _FLAGS:
            what = "branch or option of mergerfs; a branch is a directory: (disk | ext4)"
            raise arguments.unknown(reading, argument, what, _FLAGS)
        return argument.text
    key, value = argument.key, argument.value
    if key not in _KEYS:
        raise arguments.unknown(reading, argument, "option of mergerfs", _KEYS)
    if "," in value:
        raise reading.mistake(argument, "a mergerfs option cannot contain a comma; write separate options")
    # mergerfs 2.33 reports no error for an unknown policy
    policies = _POLICIES | _READDIR_POLICIES if key == "func.readdir" else _POLICIES
    if key.startswith(("category.", "func.")) and value.split(":")[0] not in policies:
        raise reading.mistake(argument, f"`{value}` is not a mergerfs policy{did_you_mean(value, policies)}")
    return f"{key}={value}"


def _mount(options: tuple[str, ...], branches: Sequence[Volume], point: str) -> Step:
    smallest_bytes = min((branch.size_bytes for branch in branches if branch.size_bytes is not None), default=None)
    is_set = any(option.split("=")[0] == "minfreespace" for option in options)
    if smallest_bytes is not None and smallest_bytes < _SMALL_BYTES and not is_set:
        options = (*options, f"minfreespace={smallest_bytes // 64 // 1024}K")
    chosen = ("-o", ",".join(options)) if options else ()
    argv = ("mergerfs", *chosen, ":".join(_checked(branch.path) for branch in branches), point)
    return Step(f"mount mergerfs on {point}", argv, undo=UndoMount(point, lazy=True), timeout_s=_MOUNT_LIMIT_S)


def _checked(path: str) -> str:
    """Return the path unchanged, after checking it.

    Raises a HostError if the path contains `:`, `=`, a backslash or a wildcard, because mergerfs gives these a special
    meaning.
    """
    if any(sign in path for sign in ":*?[]{}=\\"):
        raise HostError(
            f"mergerfs cannot use {path} as a branch, because it gives `:`, `=`, backslashes and wildcards a special "
            "meaning",
            "rename the directory",
        )
    return path


LAYER = MergerfsLayer()
