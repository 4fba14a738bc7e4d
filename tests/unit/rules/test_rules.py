"""Every rule applies to an example and not to a similar case. Its texts, file name and script are complete."""

import re
import runpy
from pathlib import Path

import pytest

from poolproof import process, rules
from poolproof.errors import UsageError
from poolproof.rules.judge import judge
from poolproof.rules.model import Case, Rule
from poolproof.rules.rule_catalogue import all_rules, rule
from tests.unit.rules.examples import EXAMPLES, Example

_FOLDER = Path(rules.__path__[0])
_OTHER_MODULES = {
    "commits", "coverage", "different_blocks", "disk_requests", "earlier", "fio_job", "flow", "judge", "left_in_ram",
    "link_rates", "memory_values", "merged_directions", "mirror_reads", "model", "overwritten", "path", "proof",
    "quoted", "read_back", "repeated_area", "repeated_reads", "reported", "rule_catalogue", "service_time",
    "stored_share", "tolerances", "turning_disks", "write_coverage",
}  # fmt: skip
_PITFALLS = {
    "amplification": "A4, #24",
    "async-engine-blocks": "#7, A8",
    "background-io": "#36",
    "branch-placement": "#18",
    "broken-clock": "#42",
    "btrfs-direct-writes": "#41",
    "btrfs-nodatacow": "#41",
    "capped-rate": "#30",
    "chosen-depth": "#30",
    "colon-in-filename": "#34",
    "compressed-reads": "#9, A1",
    "cpu-bound-fio": "#29",
    "default-buffer-compressible": "#9, A3",
    "device-in-name": "#34",
    "direct-refused": "#17, #18",
    "disk-buffer": "A5, #26",
    "drop-caches-without-sync": "#45",
    "few-samples": "#31",
    "figures-disagree": "A11",
    "flushes-missing": "#19, #27",
    "gtod-reduce": "#8",
    "guest-cache": "#25, A6",
    "invalidate-is-not-cold": "#12, #18, #45, #47",
    "iodepth-with-sync-engine": "#6",
    "kib-means-1000": "#33",
    "l2arc-cold": "#23",
    "latency-floor": "A6, #20",
    "littles-law": "A7",
    "log-device-idle": "#21",
    "loop-cache": "#17",
    "md-bitmap": "#37",
    "merged-percentiles": "#31",
    "misaligned-sectors": "#43",
    "mixed-sum": "#46",
    "network-target": "#47",
    "other-work": "#36",
    "physical-ceiling": "A5, #25, #26",
    "prior-file-reuse": "#35",
    "ramp-in-window": "A12, #32",
    "random-coverage": "#28",
    "rare-sync": "#19",
    "rate-not-reached": "#30",
    "read-from-cache": "A1",
    "recordsize-mismatch": "#16, A4",
    "repeated-offsets": "#13",
    "runtime-without-time-based": "#2, A11",
    "sequential-iops": "#15, #48",
    "shared-file-numjobs": "#3, A1, A3",
    "short-commit-test": "#20",
    "short-run-burst": "#14",
    "size-below-cache": "#1",
    "smr": "#40",
    "sync-at-depth": "#19",
    "sync-on-reads": "#19",
    "thinktime-depth": "#6",
    "throttled": "#29",
    "trimmed-ssd": "#38",
    "unaligned-direct": "#20, #33",
    "unique-extents": "A9",
    "unstable": "A10, #14, #39",
    "unwritten-read": "#11, A1",
    "verify-cost": "#44",
    "volatile-target": "#17, #20",
    "work-done": "A11",
    "write-buffer": "A2",
    "write-not-on-disk": "A2",
    "write-vanished": "A3",
    "write-without-sync": "#4, A2",
    "zero-buffers": "#10, A3",
    "zfs-direct-ignored": "#5, #22",
    "zfs-sync-disabled": "#19, #21",
}
"""The numbers of the known pitfalls on which the first rules are based, keyed by rule."""
_ROOT = Path(__file__).parents[3]
_CODE = re.compile(r"(?:fio|OpenZFS|Linux|mergerfs|QEMU|hdparm)[ -]\d[\w.]* [\w./-]+, [\w:]+")
_OF_HARDWARE = {"disk-buffer", "memory-latency", "named-disk", "named-memory", "small-file"}

_OWN_FIX_IF_DIRECT = {"missing-proof", "rewritten-before-sync", "size-below-cache"}
"""Rules that do not apply to jobs with direct=1, or whose findings on them have a fix of their own."""

_ALL = [(rule_id, number) for rule_id, examples in EXAMPLES.items() for number in range(len(examples))]


def _example(rule_id: str, number: int) -> Example:
    return EXAMPLES[rule_id][number]


def _effects(case: Case, rule_id: str) -> set[str]:
    return {finding.effect for finding in judge(case).findings if finding.rule == rule_id}


@pytest.mark.parametrize(("rule_id", "number"), _ALL)
def test_a_case_triggers_the_rule(rule_id: str, number: int) -> None:
    example = _example(rule_id, number)
    assert example.effect in _effects(example.case, rule_id), judge(example.case).findings


@pytest.mark.parametrize(("rule_id", "number"), _ALL)
def test_a_near_miss_does_not(rule_id: str, number: int) -> None:
    example = _example(rule_id, number)
    assert not _effects(example.near_miss, rule_id), judge(example.near_miss).findings


def test_every_rule_has_examples() -> None:
    assert set(EXAMPLES) == {each.id for each in all_rules()}


def test_every_check_of_a_rule_has_an_example() -> None:
    """A rule that checks both jobs and results has an example for each."""
    for each in all_rules():
        cases = [example.case for example in EXAMPLES[each.id]]
        if each.in_job is not None:
            assert any(list(each.in_job(case)) for case in cases), each.id
        if each.in_result is not None:
            assert any(list(each.in_result(case)) for case in cases), each.id


def test_every_module_is_a_rule_or_listed() -> None:
    files = {path.stem for path in _FOLDER.glob("*.py")} - _OTHER_MODULES - {"__init__"}
    assert files == {each.id.replace("-", "_") for each in all_rules()}


@pytest.mark.parametrize("each", all_rules(), ids=lambda each: each.id)
def test_a_rule_is_complete(each: Rule) -> None:
    assert all((each.title, each.wrong, each.shows, each.error, each.fix, each.sources, each.reproduce))
    assert each.in_job or each.in_result
    for text in (each.wrong, each.shows, each.error):
        assert text.endswith((".", ")")), text
    assert re.match(r"[a-z]+ ", each.fix) and not each.fix.endswith("."), each.fix


def test_a_rule_names_the_code_it_rests_on() -> None:
    """Each rule names a release, a file and a function, unless it is based on data sheets and measurements."""
    without = {each.id for each in all_rules() if not any(map(_CODE.match, each.sources))}
    assert without <= _OF_HARDWARE


def test_the_page_of_tests_has_every_rule_and_example() -> None:
    page = runpy.run_path(str(_ROOT / "scripts" / "rule_tests_page.py"))["page"]()
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == [each.id for each in all_rules()]
    rows = re.findall(r"^\| (?:fails|refutes|suspects|leaves-unproven|notes) \|", page, re.MULTILINE)
    assert len(rows) == len(_ALL)
    assert all(each.sources[0] in page for each in all_rules())
    assert (_ROOT / "docs" / "rule-tests.md").read_text(encoding="utf-8").startswith(page[:300]), "run: make docs"


@pytest.mark.parametrize("each", all_rules(), ids=lambda each: each.id)
def test_a_shell_can_parse_the_script(each: Rule) -> None:
    process.run(["sh", "-n"], timeout_s=10.0, stdin=each.reproduce)
    assert "fio" in each.reproduce


def test_findings_have_values_and_a_fix() -> None:
    for rule_id, number in _ALL:
        for finding in judge(_example(rule_id, number).case).findings:
            assert finding.message and finding.fix
            assert re.match(r"[a-z]+ ", finding.fix) and not finding.fix.endswith("."), finding.fix
            assert not re.search(r"\b(F_w|F_r|D_w|D_r|RR|WR)\b", finding.message), finding.message
            assert "None" not in finding.message, finding.message


def test_every_known_pitfall_has_a_rule() -> None:
    assert set(_PITFALLS) <= {each.id for each in all_rules()}
    named = {number for numbers in _PITFALLS.values() for number in re.findall(r"#?A?\d+", numbers)}
    known = {f"#{number}" for number in range(1, 49)} | {f"A{number}" for number in range(1, 13)}
    assert known - named == set()


def test_repeated_offsets_explain_reads_that_reached_no_disk() -> None:
    assert rule("repeated-offsets").explains_lost.keys() == {"read"}


def test_an_unknown_rule_names_the_nearest() -> None:
    assert rule("loop-cache").id == "loop-cache"
    with pytest.raises(UsageError, match="`shared-file-numjobs`"):
        rule("shared-file-numjob")


def test_the_page_is_generated_from_the_rules() -> None:
    page = runpy.run_path(str(_ROOT / "scripts" / "rules_page.py"))["page"]
    assert (_ROOT / "docs" / "rules.md").read_text(encoding="utf-8") == page(), "run: make docs"


def test_the_advice_on_a_burst_is_not_what_the_job_has() -> None:
    for example in EXAMPLES["short-run-burst"]:
        for finding in rule("short-run-burst").check_job(example.case):
            assert ("time_based=1" in finding.fix) != all(job.time_based for job in example.case.jobs)


_SETS_DIRECT = re.compile(r"\b(?:use|set|or|and) direct=1")


def test_no_fix_tells_a_job_to_set_direct_if_it_sets_it() -> None:
    told = {
        (finding.rule, finding.fix)
        for examples in EXAMPLES.values()
        for example in examples
        for each in all_rules()
        for finding in (*each.check_job(example.case), *each.check_result(example.case))
        if example.case.is_direct and _SETS_DIRECT.search(finding.fix)
    }
    assert not told


def test_a_rule_that_may_apply_to_direct_jobs_has_a_fix_for_them() -> None:
    without = {each.id for each in all_rules() if _SETS_DIRECT.search(each.fix) and not each.fix_if_direct}
    assert without == _OWN_FIX_IF_DIRECT
