"""Read results in sentences, in texts without any other result: `I get 230k IOPS`, `fio reported 1877 IOPS`.

A sentence has a verb such as `get` or `reported` in front of the value. Limits, goals, ranges and comparisons are not
results. The direction is that of the words next to the value, of the sentence, or of the only job in the text.
Sentences are imprecise, so a result that was read from one is never refuted (`without_refutation`).
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from poolproof.foreign.audit.amounts import amount, number
from poolproof.foreign.audit.directions import named_direction
from poolproof.load.fio.pairing import FoundResult, pair
from poolproof.load.fio.plain_lines import Line, plain_lines
from poolproof.load.fio.source_commands import source_commands
from poolproof.load.outcome import Direction, Outcome, PartOutcome
from poolproof.rules.judge import Judgement
from poolproof.rules.model import VERDICTS
from poolproof.rules.rule_catalogue import rules_of

_NUMBER = r"\d{1,3}(?:,\d{3}){1,3}|\d{1,9}(?:\.\d{1,3})?"
_VALUE = re.compile(
    rf"(?<![\w.,$-])(?:(?P<iops>(?:{_NUMBER}) ?[kKM]?) ?(?:(?:random )?(?:read|write) )?IOPS"
    r"|(?P<rate>\d{1,9}(?:\.\d{1,3})? ?[kKMGT]i?B)(?:/s(?:ec)?|ps))\b",
    re.IGNORECASE,
)
_OFTEN = r"(?:(?:only|just|still|now|usually|consistently|currently|about|it) ){0,2}"
_VERB = re.compile(
    rf"\b(?:i|we)(?:['\u2019](?:m|ve|re)| am| are| have| was| were)? {_OFTEN}"
    r"(?:get|got|getting|see|saw|seeing|seen|measured?|measuring|reach(?:ed)?|obtain(?:ed)?|observed?)\b"
    rf"|\b(?:fio|benchmarks?|tests?|it|this|which|commands?|runs?|jobs?|output|results?|performance) {_OFTEN}"
    r"(?:reports?|reported|shows?|showed|gives?|gave|yields?|yielded|outputs|says|said|returns?|returned|measured"
    r"|achieves?|achieved|gets?|got|(?:results?|resulted) in"
    r"|(?:is|was|are|were)(?= (?:only |just |about |around )?\d))\b",
    re.IGNORECASE,
)
_NOT_A_RESULT = re.compile(
    r"\b(?:up to|at (?:most|least)|max(?:imum)?|min(?:imum)?|limit\w*|should|would|could|can|expect\w*|between|than|if"
    r"|instead|rather|rated|spec\w*|per (?:\w+ )?(?:disk|drive|osd|node|gb|gib|tb)|each|from \d|drop\w*|down to"
    r"|differ\w*|compar\w*|suppos\w*|claim\w*|advertised?|theor\w*|target\w*|goal|need\w*|require\w*|guarantee\w*|provision\w*"
    r"|cap|capped|network|iperf\d?|link)\b"
    r"|n['\u2019]t\b|\bnot\b|\d ?k? ?(?:-|\u2013|~|to) ?\d|\d\+|[<>\u2264\u2265]",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(*`-])")
_CLAUSE = re.compile(r"[,;(]\s?|\s(?:and|but|while|whereas|vs\.?|versus)\s")
_MARKS = re.compile(r"\*\*|__|(?<!\w)[*_]|[*_](?!\w)")
_ORDER = re.compile(r"(?:\brw|\breadwrite)[= ](?:rand)?(?P<rw>read|write|rw)\b")  # of a command without a job name
_OPTION = re.compile(r"\s--?[a-z]")
_ENDS = re.compile(r"[.!?:]\W{0,3}$")
_NEW = re.compile(r"^\s{0,40}(?:$|[#>|*+`-]|\d{1,4}[.)]\s)")  # begins a paragraph, a list, a table or code
_LONGEST_LINE, _LONGEST_GAP, _MOST_IN_LINE = 2000, 90, 20


def find_in_sentences(text: str) -> tuple[FoundResult, ...]:
    """Return the results in the sentences of a text, each with the command that it fits, in line order."""
    numbered = plain_lines(text)
    if not any("fio" in line.lower() for _, line in numbered):
        return ()
    commands = source_commands(numbered)
    inside = {at for each in commands for at in range(each.line, each.line + 1 + each.text.count("\n"))}
    directions = {each.rw.replace("rand", "") for command in commands for each in command.jobs} or {
        match["rw"] for _, line in numbered for match in _ORDER.finditer(line)
    }
    only = directions.pop() if len(directions) == 1 else ""
    only = "mixed" if only in ("rw", "readwrite") else only if only in ("read", "write") else ""
    found: list[FoundResult] = []
    for place, line in enumerate(numbered):
        below = numbered[place + 1][1] if place + 1 < len(numbered) else ""
        in_line = _in_line(line, below, only, is_command=line[0] in inside)
        found += [each for each in in_line if each not in found[-_MOST_IN_LINE:]]
    return pair(found, commands)


def _in_line(line: Line, below: str, only: str, *, is_command: bool) -> Iterator[FoundResult]:
    """Yield the results of the sentences that begin in a line. The last of them may end in the line below."""
    line_number, text = line
    if len(text) > _LONGEST_LINE or not (_VERB.search(text)):
        return
    sentences = _SENTENCE.split(_MARKS.sub("", text))
    for at, sentence in enumerate(sentences):
        verb = _VERB.search(sentence)
        if verb is None or (is_command and _OPTION.search(sentence, verb.end())):
            continue
        is_last = at + 1 == len(sentences) and not _ENDS.search(sentence) and len(below) <= _LONGEST_LINE
        rest = _SENTENCE.split(_MARKS.sub("", below))[0] if is_last and not _NEW.match(below) else ""
        whole = f"{sentence} {rest}"
        for start, direction, values in _results(whole, verb.end(), only):
            place = line_number + (start > len(sentence))
            read, write, mixed = (values if direction == each else None for each in ("read", "write", "mixed"))
            outcome = Outcome("", (PartOutcome("", read=read, write=write, mixed=mixed),))
            yield FoundResult(outcome, place, place, "sentence")


def _results(sentence: str, start: int, only: str) -> Iterator[tuple[int, str, Direction]]:
    """Yield the position, the direction and the values of each result behind the verb, which ends at `start`."""
    if _NOT_A_RESULT.search(sentence, start):
        return
    end = start
    for match in _VALUE.finditer(sentence, start):
        if match.start() - end > _LONGEST_GAP:
            return
        before = _CLAUSE.split(sentence[end : match.start()])[-1]
        after = _CLAUSE.split(sentence[match.end() :])[0]
        end = match.end()
        direction = named_direction(f"{before} {match[0]} {after}") or named_direction(sentence) or only
        values = Direction(
            iops=number(match["iops"]) if match["iops"] else None,
            bandwidth_bytes=amount(match["rate"]) if match["rate"] else None,
        )
        if direction and (values.iops or values.bandwidth_bytes):
            yield match.start(), direction, values


def without_refutation(judgement: Judgement) -> Judgement:
    """Return the judgement of a result in a sentence, with findings that only suspect it instead of refuting it."""
    findings = tuple(
        replace(each, effect="suspects") if each.effect == "refutes" else each for each in judgement.findings
    )
    verdict = "suspect" if judgement.verdict == "refuted" else judgement.verdict
    return replace(judgement, findings=tuple(sorted(findings, key=lambda each: each.rank)), verdict=verdict)


def without_refuting_ceilings(judgement: Judgement) -> Judgement:
    """Downgrade findings from `refutes` to `suspects` if they rest only on a sentence, which cannot refute a result."""
    ceilings = {rule.id for rule in rules_of(judgement.findings) if rule.is_ceiling}
    findings = [
        replace(each, effect="suspects") if each.rule in ceilings and each.effect == "refutes" else each
        for each in judgement.findings
    ]
    ordered = sorted(findings, key=lambda finding: finding.rank)
    verdict = judgement.verdict
    if verdict == "refuted":
        verdict = VERDICTS[ordered[0].effect] or verdict
    return replace(judgement, findings=tuple(ordered), verdict=verdict)
