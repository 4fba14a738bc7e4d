"""The live page, served by a real server: it follows the run, checks access, and shuts down cleanly."""

import re
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from poolproof.errors import HostError, UsageError
from tests.golden import Message
from tests.unit.presentation.html_report.making import all_trials, make_run, trial
from tests.unit.presentation.live.serving import LIMIT_S, POOLPROOF, events, going, serving


def test_the_page_is_that_of_poolproof_report(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", all_trials())
    with serving(tmp_path, run) as server:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/(\?token=.+)?", server.url)
        served = server.text("/report")
        subprocess.run([POOLPROOF, "report", str(run)], check=True, timeout=LIMIT_S, capture_output=True)
        assert served == (run / "report.html").read_text()


def test_the_frame_fetches_nothing_but_what_this_server_has(tmp_path: Path) -> None:
    with serving(tmp_path, make_run(tmp_path / "run", all_trials())) as server:
        with server.asked("/") as answer:
            page, headers = answer.read().decode(), dict(answer.getheaders())
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["cache-control"] == "no-store" and headers["x-content-type-options"] == "nosniff"
        for name in re.findall(r'(?:src|href)="([^"#]+)"', page):
            assert name == "data:," or server.status(f"/{name}") == 200
        assert server.status("/../run.json") == 404 and server.status("/campaign.yaml") == 404


def test_only_reading_is_answered(tmp_path: Path) -> None:
    with serving(tmp_path, make_run(tmp_path / "run", all_trials())) as server:
        assert {server.status("/report", method=method) for method in ("POST", "PUT", "DELETE")} == {405}


def test_events_tell_each_trial_and_the_end(tmp_path: Path) -> None:
    trials = all_trials()
    path = make_run(tmp_path / "run", trials[:-2])
    with going(path) as run, serving(tmp_path, path) as server, server.asked("/events") as answer:
        assert answer.getheader("content-type", "").startswith("text/event-stream")
        told = events(answer)
        first = next(told)
        assert first["running"] and (first["done"], first["total"]) == (10, 12)
        run.append(trials[-2])
        later = next(each for each in told if each["done"] == 11)
        assert later["running"] and later["page"] > first["page"] and "11 of 12 trials" in later["text"]
        assert "has ended" not in server.said
        run.append(trials[-1])
        (path / ".lock").unlink()  # as if the lock were released, because the locked file is not the run's any more
        last = next(each for each in told if not each["running"])
        assert last["text"].startswith("12 of 12 trials. ") and last["page"] > later["page"]
        server.await_that(lambda: "Ctrl-C" in server.said.partition("has ended")[2], "it said no end")


def test_a_name_that_is_not_its_own_is_refused(tmp_path: Path) -> None:
    """With DNS rebinding, the browser sends the attacker's host name."""
    with serving(tmp_path, make_run(tmp_path / "run", all_trials())) as server:
        for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1:1", f"192.0.2.1:{server.port}", ""):
            assert server.status("/", {"Host": host}) == 421, host
        for host in (f"localhost:{server.port}", f"127.0.0.1:{server.port}", f"[::1]:{server.port}"):
            assert server.status("/", {"Host": host}) == 200, host


def test_any_other_address_needs_the_token_and_then_the_cookie(tmp_path: Path) -> None:
    with serving(tmp_path, make_run(tmp_path / "run", all_trials()), "--bind", "0.0.0.0") as server:
        token = server.url.partition("?token=")[2]
        assert len(token) >= 32
        for path in ("/", "/report", "/events", "/?token=wrong", f"/?token={token}x"):
            assert server.status(path, {"Cookie": ""}) == 403, path
        with server.asked(f"/?token={token}", {"Cookie": ""}) as answer:
            assert answer.status == 303 and answer.getheader("location") == "/"
            cookie = answer.getheader("set-cookie", "")
        assert "HttpOnly" in cookie and "SameSite" in cookie and token not in cookie
        assert server.status("/", {"Cookie": cookie.partition(";")[0]}) == 200
        assert server.status("/", {"Cookie": cookie.partition("=")[0] + "=" + token}) == 403
        assert server.status("/", {"Host": f"evil.example:{server.port}"}) == 421


def test_other_users_of_the_machine_do_not_see_a_private_run(tmp_path: Path) -> None:
    """Every user can connect to 127.0.0.1, but pytest's directories are closed to other users."""
    with tempfile.TemporaryDirectory() as folder:
        for parent in (tmp_path, Path(folder)):
            path = make_run(parent / "run", all_trials())
            Path(folder).chmod(0o755)
            with serving(tmp_path, path) as server:
                assert server.status("/report", {"Cookie": ""}) == (403 if parent == tmp_path else 200)
                assert server.status("/report") == 200
                assert "on this machine" in server.said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_it_ends_when_asked_to_also_with_a_browser_that_listens(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path, make_run(tmp_path / "run", all_trials())) as server, server.asked("/events") as answer:
        next(events(answer))
        assert server.stop(number) == 0
        assert "Traceback" not in server.said


def test_nothing_of_the_run_is_changed(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", all_trials())
    before = {each: each.stat().st_mtime_ns for each in path.rglob("*")}
    with serving(tmp_path, path) as server:
        server.text("/report")
        assert server.stop() == 0
    assert {each: each.stat().st_mtime_ns for each in path.rglob("*")} == before


def test_a_run_without_trials_has_a_page_too(tmp_path: Path) -> None:
    with serving(tmp_path, make_run(tmp_path / "run", [])) as server:
        assert "Which of the two?" in server.text("/report")
        with server.asked("/events") as answer:
            assert "poolproof resume" in next(events(answer))["text"]


def test_a_port_in_use_is_named(tmp_path: Path, message: Message) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = _watch(make_run(tmp_path / "run", [trial("one", "reads")]), "--web", "--port", str(port))
    assert done.returncode == HostError.exit_code
    assert f"port {port} of 127.0.0.1" in message(done.stderr.replace(str(port), "PORT")).replace("PORT", str(port))
    assert "--port" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--web", "--bind", "no.such.name.invalid"), UsageError.exit_code, "no.such.name.invalid"),
        (("--web", "--bind", "192.0.2.1"), HostError.exit_code, "192.0.2.1 "),
        (("--port", "80"), UsageError.exit_code, "need --web"),
    ],
)
def test_where_it_cannot_listen_it_says_so(tmp_path: Path, words: tuple[str, ...], code: int, said: str) -> None:
    done = _watch(make_run(tmp_path / "run", [trial("one", "reads")]), *words)
    assert done.returncode == code and said in done.stderr and "Traceback" not in done.stderr


def _watch(run: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [POOLPROOF, "watch", str(run), *words], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
