"""In no layer can the value of an option add another option, a path or a line."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolproof.errors import CampaignError
from poolproof.layers.layer_catalogue import all_layers
from tests.golden import Message

from .ground import plan, resolve

STAGES = {
    "autotier": "autotier (a | ext4) {} (b | ext4)",
    "btrfs": "btrfs raid1 a b {}",
    "dir": "dir /srv {}",
    "ext4": "a | ext4 {}",
    "file": "a | ext4 | file 2G {}",
    "luks": "a | luks {}",
    "lvm": "lvm striped a b {}",
    "md": "md raid1 a b {}",
    "mergerfs": "mergerfs (a | ext4) (b | ext4) {}",
    "xfs": "a | xfs {}",
    "zfs": "zfs mirror a b {}",
    "zvol": "zfs mirror a b | zvol 1G {}",
}
KEYS = {
    "autotier": "quota log-level tier-period copy-buffer-size",
    "btrfs": "metadata nodesize csum features byte-count commit compress subvol discard",
    "ext4": "blocksize features inode_ratio stride commit errors data",
    "luks": "cipher key-size hash integrity sector-size",
    "lvm": "size stripesize cachesettings writecache-settings cachemode",
    "md": "bitmap chunk layout metadata",
    "mergerfs": "branches srcmounts minfreespace category.create fsname cache.files func.readdir",
    "xfs": "log.size data.su metadata.reflink naming.version logbsize",
    "zfs": "mountpoint altroot cachefile keylocation compatibility recordsize sharenfs feature@lz4_compress",
    "zvol": "volblocksize keylocation snapdev",
}
BAD = (
    "64m,logdev=/dev/loop0",
    "/dev/loop0",
    "a\nb",
    "-x",
    "--x",
    "file:///etc/shadow",
    "1 2",
    "$(id)",
    "../x",
    ",",
    "",
)
TESTED = [(word, key, value) for word in STAGES for key in f"{KEYS.get(word, '')} anything".split() for value in BAD]


def test_every_layer_has_a_row() -> None:
    assert {word for word, layer in all_layers().items() if "toy" not in type(layer).__module__} <= set(STAGES)


@pytest.mark.parametrize("word", STAGES)
def test_no_value_leaves_its_option(word: str) -> None:
    for _, key, value in (each for each in TESTED if each[0] == word):
        with pytest.raises(CampaignError):
            resolve(STAGES[word].format(f'{key}="{value}"'))


def test_the_plan_of_an_accepted_value_has_no_new_option(message: Message) -> None:
    """If accepted, `log.size=64m,logdev=/dev/loop0` would write an XFS log to a disk not named by the campaign."""
    for text, fact in (
        ("a | xfs log.size=64m,logdev=/dev/loop0", "comma"),
        ("a | ext4 stride=16,discard", "comma"),
        ("mergerfs (a | ext4) branches=/etc", "branches"),
    ):
        with pytest.raises(CampaignError, match=fact) as caught:
            resolve(text)
        message(caught.value)


@pytest.mark.parametrize(
    ("layout", "reason"),
    [
        ("zfs mirror a b autoreplace=on", "zed would overwrite a new disk"),
        ("mergerfs (a | ext4) (b | ext4) threads=30000", "more threads could exhaust those of the machine"),
        ("mergerfs (a | ext4) (b | ext4) process-thread-count=-1000", "more threads could exhaust"),
    ],
)
def test_an_option_that_could_harm_the_machine_is_refused(layout: str, reason: str) -> None:
    with pytest.raises(CampaignError, match=reason):
        resolve(layout)


@pytest.mark.parametrize(
    ("stage", "key"), [("a | ext4", "errors"), ("btrfs raid1 a b", "fatal_errors"), ("zfs mirror a b", "failmode")]
)
def test_no_layout_crashes_the_machine_at_an_io_error(stage: str, key: str) -> None:
    """poolproof itself makes the I/O of a hanging disk fail, so such a layout would take the whole machine down."""
    for value in ("panic", "PANIC", "Panic"):
        with pytest.raises(CampaignError, match="panic would crash the whole machine"):
            resolve(f"{stage} {key}={value}")


@pytest.mark.parametrize(
    "text",
    [
        "a | ext4 features=^has_journal,bigalloc stride=16 commit=5 errors=remount-ro",
        "a | xfs log.size=64m data.su=64k data.sw=2 naming.version=ci allocsize=1g",
        "a | ext4 errors=continue",
        "btrfs raid1 a b features=^no-holes,extref compress=zstd:3 commit=120 discard=async fatal_errors=bug",
        "zfs mirror a b failmode=continue",
        "mergerfs (a | ext4) minfreespace=4G category.create=epmfs func.readdir=cosr:4 cache.files=auto-full",
        'a | luks cipher="capi:xts(aes)-plain64" key-size=512 hash=sha256',
        'lvm cache a cachevol b cachesettings="migration_threshold=2048 random_threshold=4"',
        "md raid10 a b c layout=f2 chunk=256k bitmap=none",
        "zfs mirror a b compatibility=openzfs-2.1-linux comment=x org.example:note=/any,text feature@edonr=disabled",
        "autotier (a | ext4) quota=20% (b | ext4) tier-period=-1 copy-buffer-size=4M",
    ],
)
def test_what_each_technology_takes_is_accepted(text: str) -> None:
    assert resolve(text)


def test_no_word_contains_a_line_break() -> None:
    with pytest.raises(CampaignError, match="line break"):
        resolve('autotier (dir "/srv/a\x0bRun Path = /etc") (b | ext4)')


@given(
    stage=st.sampled_from(sorted(STAGES)),
    key=st.sampled_from(sorted({key for keys in KEYS.values() for key in keys.split()})),
    value=st.text(st.sampled_from("a1k,=/ -\n\t:%.^'$;|()"), max_size=8),
)
def test_any_value_is_refused_or_stays_one_argument(stage: str, key: str, value: str) -> None:
    text = STAGES[stage].format(f'{key}="{value}"')
    try:
        resolve(text)
    except CampaignError:
        return
    assert "\n" not in value and "'" not in value and ("/" not in value or ":" in key)
    argv = [part for step in plan(text).make for part in step.argv]
    clean = [part for part in argv if key in part and value in part]
    assert all(not re.search(r",\s*[\w-]+=/", part) for part in clean)
