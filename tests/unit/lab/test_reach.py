"""The other hosts that a run uses."""

import pytest

from poolproof.errors import UsageError
from poolproof.hosts.local import LocalHost
from poolproof.lab.reach import reach_others


def test_an_invalid_host_name_is_reported_and_left_out() -> None:
    warnings: list[str] = []
    main = LocalHost()
    with reach_others(main, ["-oProxyCommand=true"], warnings.append) as host:
        assert host is main
    assert len(warnings) == 1 and "-oProxyCommand=true" in warnings[0]


def test_an_invalid_host_name_is_an_error_if_the_host_is_needed() -> None:
    with pytest.raises(UsageError), reach_others(LocalHost(), ["-oProxyCommand=true"]):
        pass
