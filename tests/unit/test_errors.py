"""If an optional dependency (extra) is missing, the error names it and says how to install it."""

import sys

import pytest

from poolproof.errors import HostError, check_extra


def test_installed_extras_are_accepted() -> None:
    check_extra("query", "a query")
    check_extra("web", "the web page")


def test_a_missing_extra_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "uvicorn", raising=False)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if "site-packages" not in path])
    sys.path_importer_cache.clear()
    with pytest.raises(HostError) as raised:
        check_extra("web", "watch --web")
    assert "`web`" in raised.value.message
    assert "uvicorn" in raised.value.message
    assert "pip install '.[web]'" in raised.value.hint
    assert "make setup" in raised.value.hint
