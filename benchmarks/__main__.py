"""Measure every claim, print a line for each; ends with 1 when a limit is broken."""

from benchmarks import campaign_overhead, sampling_cost, start_up
from benchmarks.result import Result


def _results() -> list[Result]:
    results = []
    for measured in (start_up.measure(), [sampling_cost.measure()], [campaign_overhead.measure()]):
        for result in measured:
            print(result.line(), flush=True)
            results.append(result)
    return results


if __name__ == "__main__":
    raise SystemExit(0 if all(result.is_ok for result in _results()) else 1)
