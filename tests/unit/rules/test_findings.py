"""The golden file shows what each rule says about its first example that has a finding."""

from collections.abc import Callable

from poolproof.rules.judge import judge
from tests.unit.rules.examples import EXAMPLES


def test_the_message_and_the_fix_of_each_rule(wording: Callable[[str], str]) -> None:
    for rule in sorted(EXAMPLES):
        found = [each for example in EXAMPLES[rule] for each in judge(example.case).findings if each.rule == rule]
        assert found, rule
        wording(f"{rule}\n  {found[0].message}\n  fix: {found[0].fix}")
