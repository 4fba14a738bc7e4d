"""The destination of a connection, which may be named by a run directory from a stranger."""

from pathlib import Path

import pytest

from poolproof.errors import PoolproofError, UsageError
from poolproof.hosts.ssh import SshHost

_CONFIG = """\
Host *
    ProxyCommand echo %n >>{} && exit 1
    ForwardAgent yes
"""


@pytest.mark.parametrize(
    "name", ["", "-oProxyCommand=id", "$(id)", "`id`", "a;id", "a b", "a\nb", "a|b", "a&b", "a>b", "'", '"', "a" * 300]
)
def test_a_destination_that_a_shell_would_interpret_is_refused(tmp_path: Path, name: str) -> None:
    config, canary = tmp_path / "config", tmp_path / "canary"
    config.write_text(_CONFIG.format(canary))
    with pytest.raises(UsageError, match="ssh destination"):
        SshHost(name, config)
    assert not canary.exists()


@pytest.mark.parametrize(
    "name", ["user@-oProxyCommand=id", "ssh://-x", "ssh://root@-x:22", "[-x]", "root@[-x]", "a@b@-e/bin/sh"]
)
def test_a_name_that_would_be_an_option_of_a_proxy_command_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="ssh destination"):
        SshHost(name)


@pytest.mark.parametrize(
    "name", ["my-nas-2", "nas2", "root@10.0.0.1", "ssh://root@[fe80::1%25eth0]:22", "büro_1.example.com"]
)
def test_any_other_destination_reaches_ssh(tmp_path: Path, name: str) -> None:
    config, canary = tmp_path / "config", tmp_path / "canary"
    config.write_text(_CONFIG.format(canary))
    with pytest.raises(PoolproofError) as refused:
        SshHost(name, config)
    assert "ssh destination" not in refused.value.message
