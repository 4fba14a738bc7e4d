"""Hypothesis strategies for layout expressions, and examples from the design that must be accepted."""

from hypothesis import strategies as st

from poolproof.campaign.expression import Argument, Expression, Group, Option, Stage, Word

DESIGN_LINES = (
    "rust | ext4",
    "zfs rust",
    "zfs mirror rust ssd ashift=12 compression=off",
    "zfs small big",
    "zfs mirror hdd1 hdd2 cache nvme1 | zvol 100G | ext4",
    "zfs mirror hdd1 hdd2 log (nvme1 | luks) cache (nvme2 | luks) | zvol 100G | ext4",
    "btrfs raid1 nvme ssd",
    "md raid1 nvme ssd bitmap=none | ext4",
    "mergerfs (hdd1 | xfs) (hdd2 | ext4) category.create=epmfs minfreespace=300G cache.files=off",
    "mergerfs (zfs mirror nvme ssd)",
    "autotier (zfs mirror nvme ssd) quota=20% (mergerfs (hdd1 | ext4) (hdd2 | ext4)) quota=100%",
    "dir /srv/data",
    "zfs mirror hdd1 hdd2 recordsize={16k,128k,1m}",
    "md raid1 nvme ssd bitmap={none,internal} | ext4",
)

_TEXT = st.characters(exclude_categories=("Cc", "Cs"), exclude_characters='"')
words = st.text(_TEXT, min_size=1, max_size=12).map(Word)
options = st.builds(
    Option,
    st.text(st.characters(categories=("L", "N"), include_characters=".:_-@"), min_size=1, max_size=8),
    st.text(_TEXT, max_size=12),
)


def _expressions(argument: st.SearchStrategy[Argument]) -> st.SearchStrategy[Expression]:
    head = argument.filter(lambda each: not isinstance(each, Option))
    stages = st.builds(lambda first, rest: Stage((first, *rest)), head, st.lists(argument, max_size=3))
    return st.lists(stages, min_size=1, max_size=3).map(lambda found: Expression(tuple(found)))


arguments: st.SearchStrategy[Argument] = st.recursive(
    words | options, lambda inner: inner | _expressions(inner).map(Group), max_leaves=6
)
expressions = _expressions(arguments)
