"""A campaign written as YAML and parsed again is the same campaign."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from poolproof.campaign.device_source import read_device
from poolproof.campaign.document import Scalar, Spot, YamlMapping, parse_document
from poolproof.campaign.expression import Expression, format_expression
from poolproof.campaign.flags import campaign_from_flags
from poolproof.campaign.layout import make_layouts
from poolproof.campaign.model import (
    Campaign,
    Device,
    Disk,
    Emulated,
    JobSpec,
    Layout,
    LoopFile,
    Measure,
    Qcow2,
    Until,
    Workload,
    WorkloadRequest,
)
from poolproof.campaign.workload import expand_workload
from poolproof.campaign.write import format_campaign, format_source, scalar
from poolproof.campaign.yaml import parse_campaign, read_campaign
from poolproof.metrics import COMPARABLE, LOWER_IS_BETTER, metric_of
from poolproof.stopping.model import Steady

from .expressions import expressions

_LETTERS = st.characters(categories=("Lu", "Ll", "Nd"), max_codepoint=127)
_names = st.text(_LETTERS, min_size=1, max_size=8).filter(lambda name: name != "global")
_texts = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=12).filter(str.strip)
_sizes = st.integers(1, 1 << 50)
_sources = (
    st.builds(Disk, st.text("abcXYZ0189._:@+/-", min_size=1))
    | st.builds(LoopFile, _sizes)
    | st.builds(Qcow2, _sizes)
    | st.builds(Emulated, _names, _sizes)
)
_keys = st.text("abcdefg_", min_size=1, max_size=6).filter(lambda key: key[0] != "_").map(lambda key: f"o{key}")
_options = st.dictionaries(_keys, st.lists(_texts, min_size=1, max_size=3, unique=True).map(tuple), max_size=3).map(
    lambda found: tuple(found.items())
)
_jobs = st.dictionaries(_names, _options, max_size=2).map(lambda found: tuple(found.items()))
_requests = st.one_of(
    st.just(WorkloadRequest(preset="etcd")),
    st.builds(
        WorkloadRequest,
        st.just("etcd"),
        _options,
        st.just(()) | _options.map(lambda options: (("etcd", options),)),
        st.none() | st.sampled_from([metric for metric in COMPARABLE if metric_of(metric).of != "read"]),
        st.none() | st.booleans(),
        st.booleans(),
    ),
    st.builds(
        WorkloadRequest,
        st.none(),
        _options.filter(bool),
        _jobs,
        st.none()
        | st.sampled_from([metric for metric in COMPARABLE if metric_of(metric).of not in ("syncs", "write")]),
        st.none() | st.booleans(),
        st.booleans(),
    ),
)
_plain = expressions.map(format_expression).filter(lambda line: "{" not in line and "}" not in line)
_lines = st.sampled_from(["zfs a k={1,2}", "zfs {mirror,raidz1} a", "a\n | ext4"]) | _plain


_seeds = st.none() | st.integers(0, 2**63 - 1)
_fixed = st.builds(Measure, st.floats(1e-9, 604800.0), st.integers(1, 10_000), st.booleans(), _seeds)
_untils = st.builds(
    Until,
    st.floats(1e-6, 0.5),
    st.floats(0.5, 0.9999999999999998),
    st.floats(1e-9, 100.0),
    st.floats(100.0, 604800.0),
    st.sampled_from(get_args(Steady)),
)
_adaptive = st.builds(
    Measure,
    st.just(10.0),
    st.integers(1, 5_000),
    st.booleans(),
    _seeds,
    st.none() | st.integers(5_000, 10_000),
    _untils,
)


@st.composite
def campaigns(draw: st.DrawFn) -> Campaign:
    layouts: list[Layout] = []
    for name, line in draw(st.dictionaries(_names, _lines, min_size=1, max_size=3)).items():
        layouts.extend(make_layouts(name, line, Spot("test")))
    workloads: list[Workload] = []
    for name, request in draw(st.dictionaries(_names, _requests, min_size=1, max_size=3)).items():
        workloads.extend(expand_workload(name, request))
    sources = draw(st.dictionaries(_names.map(lambda name: f"device{name}"), _sources, max_size=3))
    return Campaign(
        name=draw(_names),
        question=draw(st.just("") | _texts),
        devices=tuple(Device(name, source) for name, source in sources.items()),
        layouts=tuple(layouts),
        workloads=tuple(workloads),
        measure=_within_bins(draw(_fixed | _adaptive), workloads),
        baseline=draw(st.none() | st.sampled_from([layout.name for layout in layouts])),
        goal=draw(st.none() | st.sampled_from([workload.name for workload in workloads])),
    )


def _within_bins(measure: Measure, workloads: list[Workload]) -> Measure:
    """Return settings whose tolerance is not finer than fio's histogram bins allow for a percentile."""
    if measure.until is None or not any(workload.metric in LOWER_IS_BETTER for workload in workloads):
        return measure
    return replace(measure, until=replace(measure.until, tolerance=max(0.1, measure.until.tolerance)))


@given(campaigns())
def test_what_is_written_reads_back_equal(campaign: Campaign) -> None:
    assert parse_campaign(format_campaign(campaign), "saved.yaml") == campaign


def test_a_file_is_written_as_it_was_meant() -> None:
    design = read_campaign(Path(__file__).with_name("design.yaml"))
    written = format_campaign(design)
    assert '  mirror-log: "zfs mirror hdd1 hdd2 log nvme1 | zvol 100G | ext4"\n' in written
    assert "  grid: {rw: [read, randread, write, randwrite], bs: [4k, 16k, 1m], sync: [0, 1]," in written
    assert "  etcd: etcd\n" in written
    assert parse_campaign(written, "saved.yaml") == design


def test_flags_are_saved_as_a_file_that_means_the_same() -> None:
    flags = campaign_from_flags(
        ["btrfs raid1 a b", "m=zfs mirror a b recordsize={16k,1m}"],
        ["a=file:8G", "b=emulate:hdd-7200,8G"],
        ["etcd", "rw=randread,bs={4k,16k}", "pg:postgres,size=1g"],
    )
    written = format_campaign(flags)
    assert parse_campaign(written, "saved.yaml") == flags
    assert '  m: "zfs mirror a b recordsize={16k,1m}"\n' in written


def test_values_made_without_any_text_are_written_too() -> None:
    jobs = (JobSpec("w", (("rw", "read"),)),)
    two = (JobSpec("x", (("rw", "read"),)), JobSpec("y", (("rw", "write"),)))
    bare = Campaign(
        "made",
        "",
        (),
        (Layout("one", Expression(make_layouts("one", "dir /srv", Spot("test"))[0].expression.stages)),),
        (Workload("w", "w", jobs, "iops"), Workload("v", "v", two, "p99", cold=False)),
        Measure(cold="reads"),
    )
    assert parse_campaign(format_campaign(bare), "saved.yaml") == bare


@given(st.text(st.characters(exclude_categories=("Cc", "Cs"))))
def test_a_scalar_reads_back_as_the_text_it_was(text: str) -> None:
    document = parse_document(f"{{{scalar('key')}: {scalar(text)}}}", "test")
    assert isinstance(document, YamlMapping)
    value = document.get("key")
    assert isinstance(value, Scalar)
    assert value.text == text
    assert value.as_flag is None
    assert not value.is_nothing


@given(_sources)
def test_a_device_reads_back(source: Disk | LoopFile | Qcow2 | Emulated) -> None:
    document = parse_document(f"a: {format_source(source)}", "test")
    assert isinstance(document, YamlMapping)
    assert read_device(*document.entries[0]) == Device("a", source)
