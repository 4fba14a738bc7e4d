"""What was left out and why, in a few words: names grouped by reason, long lists cut with a count."""

from collections.abc import Iterable, Iterator

_MOST_NAMED = 3
_MOST_REASONS = 6


def in_groups(whys: Iterable[tuple[str, str]], *, between: str = ": ") -> Iterator[str]:
    """Yield `a, b, c and 97 more: refuted (read-from-cache)` for each reason, the most frequent first."""
    groups: dict[str, list[str]] = {}
    for name, why in whys:
        groups.setdefault(why, []).append(name)
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    for why, names in ordered[:_MOST_REASONS]:
        yield f"{_listed(names)}{between}{why}"
    rest = sum(len(names) for _why, names in ordered[_MOST_REASONS:])
    if rest:
        yield f"{rest} more for {len(ordered) - _MOST_REASONS} other reasons"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
