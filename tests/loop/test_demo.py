"""The demo from start to end: the misleading workload is refuted on every layout, and nothing else is."""

import pytest

from tests.loop.command import Started
from tests.loop.testbed import Testbed, judged

_LAYOUTS = {"hdd-ext4", "ssd-ext4", "raid1", "mergerfs"}
_HONEST = {"random-reads", "big-writes", "etcd"}
_LIMIT_S = 500.0


@pytest.mark.slow
@pytest.mark.timeout(_LIMIT_S + 60)
def test_the_demo_refutes_only_the_misleading_job(testbed: Testbed) -> None:
    words = ["demo", "--out", str(testbed.runs / "run"), "--work", str(testbed.work), "--json"]
    answer = Started(testbed.path, *words).wait(_LIMIT_S)
    assert answer.code == 0, answer.out + answer.err
    cells = {(cell["layout"], cell["workload"]): cell for cell in answer.json["cells"]}
    assert set(cells) == {(layout, workload) for layout in _LAYOUTS for workload in (*_HONEST, "eight-writers")}
    for (layout, workload), cell in cells.items():
        rules = {finding["rule"]: finding for finding in cell["findings"]}
        told = f"{layout} · {workload}: {cell['verdict']}, {', '.join(rules)}"
        if workload == "eight-writers":
            assert judged(cell) == "refuted", told
            assert "fix" in rules["shared-file-numjobs"], told
            account = cell["account"]
            assert account["leaf_write_bytes"] < account["write_factor"] * account["fio_write_bytes"] / 2, told
        else:
            assert judged(cell) in ("sound", "suspect"), told
    assert sum(judged(cell) == "sound" for cell in cells.values()) >= len(_LAYOUTS) * len(_HONEST) - 2
    assert testbed.traces() == []
