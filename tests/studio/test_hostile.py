"""Hostile use: what strangers, other sites and careless scripts try is refused or bounded, and the studio lives on."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from studio_client import RunningStudio

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
SECRET = "this is nobody's business"
SECONDS = 4.0


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStudio]:
    """A studio with short limits, in a folder beside which there is a secret."""
    home = tmp_path_factory.mktemp("hostile") / "home"
    home.mkdir()
    (home.parent / "secret.toml").write_text(f'name = "{SECRET}"')
    (home / "mine.toml").write_text('name = "mine"')
    (home / "link.toml").symlink_to(home.parent / "secret.toml")
    (home / ".hidden.toml").write_text(SECRET)
    (home / "odd.py").write_text(SECRET)
    limits = f"seconds={SECONDS}, long_seconds={SECONDS}, patience=1.5, waiting=12, workers=2, connections=60"
    with RunningStudio(home, ENVIRONMENT, limits=limits) as running:
        yield running
        assert running.alive
        assert "Traceback" not in running.told().replace('Traceback (most recent call last):\n  File "<never', "")


@pytest.fixture(autouse=True)
def _lives_on(target: RunningStudio) -> Iterator[None]:
    yield
    status, _, page = target.request("GET", "/")
    assert (status, b"svyaz studio" in page) == (200, True)


def status_of(answer: bytes) -> int:
    found = re.match(rb"HTTP/1\.1 (\d+)", answer)
    return int(found[1]) if found else 0


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/core/../../running.py",
        "/core/%2e%2e/%2e%2e/crew.py",
        "/secret.toml",
        "/../secret.toml",
        "/out/../mine.toml",
        "/out/%2e%2e/mine.toml",
        "/out/a/../../mine.toml",
        "/mine.toml",
        "/.git/config",
        "/core/ask.js%00.html",
        "http://example.org/",
    ],
)
def test_U3_no_address_leads_out_of_the_pages(target: RunningStudio, path: str) -> None:
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{target.port}\r\nCookie: {target.cookie}\r\n"
    answer = target.raw(f"{head}Connection: close\r\n\r\n".encode())
    assert status_of(answer) in (400, 404)
    assert SECRET.encode() not in answer
    assert b"root:" not in answer


@pytest.mark.parametrize(
    "name",
    [
        "../secret.toml",
        "/etc/passwd",
        "..\\secret.toml",
        ".hidden.toml",
        "a/b.toml",
        "odd.py",
        "nul.toml",
        "link.toml",
        "mine.toml\n",
        "mine.toml\0",
        "x" * 4000 + ".toml",
        ["mine.toml"],
        None,
        {"a": 1},
    ],
)
@pytest.mark.parametrize("path", ["/open", "/save"])
def test_U3_no_file_outside_is_read_or_written(target: RunningStudio, path: str, name: object) -> None:
    body = json.dumps({"name": name, "text": "written", "over": True})
    status, _, answer = target.request("POST", path, body)
    assert status == 400
    assert SECRET.encode() not in answer
    assert (target.folder.parent / "secret.toml").read_text() == f'name = "{SECRET}"'
    assert not list(target.folder.parent.glob("*written*"))


def test_U3_a_file_is_not_replaced_unasked_nor_filled_without_end(target: RunningStudio) -> None:
    assert target.request("POST", "/save", json.dumps({"name": "mine.toml", "text": "other"}))[0] == 409
    assert target.request("POST", "/save", json.dumps({"name": "big.toml", "text": "x" * 500_000}))[0] == 413
    assert (target.folder / "mine.toml").read_text() == 'name = "mine"'
    assert not (target.folder / "big.toml").exists()


HEADERS: dict[str, tuple[dict[str, str], int]] = {
    "another site": ({"Origin": "http://example.org"}, 403),
    "a page from a file": ({"Origin": "null"}, 403),
    "no origin": ({"Origin": ""}, 403),
    "a name that begins alike": ({"Origin": "http://127.0.0.1:{port}.example.org"}, 403),
    "another port": ({"Origin": "http://127.0.0.1:1"}, 403),
    "another scheme": ({"Origin": "https://127.0.0.1:{port}"}, 403),
    "a name bound to this machine afterwards": (
        {"Host": "example.org:{port}", "Origin": "http://example.org:{port}"},
        421,
    ),
    "no port in the name": ({"Host": "127.0.0.1"}, 421),
    "sent across sites": ({"Sec-Fetch-Site": "cross-site"}, 403),
    "a form": ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
    "plain text": ({"Content-Type": "text/plain"}, 415),
}


@pytest.mark.parametrize("what", HEADERS)
def test_U3_only_pages_of_the_studio_ask(target: RunningStudio, what: str) -> None:
    headers, expected = HEADERS[what]
    sent = {name: value.replace("{port}", str(target.port)) for name, value in headers.items()}
    status, answer, _ = target.request("POST", "/ask", json.dumps({"ask": "gallery"}), sent)
    assert status == expected
    assert "access-control-allow-origin" not in answer


PROTOCOL: dict[str, tuple[bytes, tuple[int, ...]]] = {
    "bytes without sense": (b"\x16\x03\x01\x02\x00\x01\x00\xfc\x03\x03\r\n\r\n", (400,)),
    "an older protocol": (b"GET /\r\n\r\n", (400,)),
    "a head without end": (b"GET / HTTP/1.1\r\nHost: {host}\r\nX: " + b"y" * 40_000, (400, 431)),
    "many headers": (b"GET / HTTP/1.1\r\nHost: {host}\r\n" + b"X: y\r\n" * 5_000, (400, 431)),
    "a host given twice": (b"GET / HTTP/1.1\r\nHost: {host}\r\nHost: example.org\r\n\r\n", (400,)),
    "a method of its own": (b"STEAL / HTTP/1.1\r\nHost: {host}\r\n\r\n", (405,)),
    "asking for permission": (b"OPTIONS /ask HTTP/1.1\r\nHost: {host}\r\nOrigin: http://example.org\r\n\r\n", (405,)),
    "a giant body": (b"POST /ask HTTP/1.1\r\nHost: {host}\r\n{own}Content-Length: 99999999999\r\n\r\n{}", (413,)),
    "a body of unknown size": (
        b"POST /ask HTTP/1.1\r\nHost: {host}\r\n{own}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        (413,),
    ),
    "two sizes": (
        b"POST /ask HTTP/1.1\r\nHost: {host}\r\n{own}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        (400, 413),
    ),
    "a negative size": (b"POST /ask HTTP/1.1\r\nHost: {host}\r\n{own}Content-Length: -1\r\n\r\n", (400, 413)),
    "a head that never ends": (b"GET / HTTP/1.1\r\nHost: {host}\r\nX: ", (408,)),
    "a body that never comes": (b"POST /ask HTTP/1.1\r\nHost: {host}\r\n{own}Content-Length: 100\r\n\r\n{", (408,)),
    "a socket": (
        b"GET /ask HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        (400,),
    ),
}


@pytest.mark.parametrize("what", PROTOCOL)
def test_U3_what_is_no_request_is_refused(target: RunningStudio, what: str) -> None:
    data, expected = PROTOCOL[what]
    own = f"Origin: {target.origin}\r\nContent-Type: application/json\r\nCookie: {target.cookie}\r\n".encode()
    filled = data.replace(b"{host}", f"127.0.0.1:{target.port}".encode()).replace(b"{own}", own)
    assert status_of(target.raw(filled)) in expected


BODIES = {
    "no JSON": "{'a': 1}",
    "a list": "[1, 2, 3]",
    "a nest": '{"ask": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "a nest in the model": '{"ask": "read", "model": ' + '{"a":' * 20_000 + "1" + "}" * 20_000 + "}",
    "nothing asked": "{}",
    "a question that is no text": '{"ask": ["read"]}',
}


@pytest.mark.parametrize("what", BODIES)
def test_U3_what_is_no_question_is_refused(target: RunningStudio, what: str) -> None:
    assert target.request("POST", "/ask", BODIES[what])[0] == 400


PENDULUM = 'name = "p"\ncoordinates = ["x"]\nkinetic = "x\'^2/2"\npotential = "{potential}"\n'


def written(potential: str, more: str = "") -> dict[str, str]:
    return {"name": "m", "text": PENDULUM.replace("{potential}", potential) + more}


QUESTIONS: dict[str, dict[str, Any]] = {
    "an unknown question": {"ask": "__import__('os').system('true')"},
    "a module": {"ask": "os.system"},
    "code in an expression": {"ask": "read", "model": written("__import__('os').system('touch owned')")},
    "code in a value": {"ask": "read", "model": {"name": "pendulum:1"}, "settings": {"g": "exec('1')"}},
    "a file as a model": {"ask": "read", "model": {"name": "/etc/passwd"}},
    "a file in the gallery": {"ask": "read", "model": {"name": "../../../etc/passwd"}},
    "too many links": {"ask": "read", "model": {"name": "pendulum:99999999"}},
    "a nest of parentheses": {"ask": "read", "model": written("(" * 5_000 + "x" + ")" * 5_000)},
    "a giant power": {"ask": "simulate", "model": written("9^9^9^9^9*x")},
    "text that is no text": {"ask": "read", "model": {"name": "m", "text": 5}},
    "settings that are no table": {"ask": "read", "model": {"name": "sling"}, "settings": [1]},
    "too many members": {
        "ask": "sweep",
        "model": {"name": "pendulum:1"},
        "options": {"vary": {"g": [1, 2, 1e6, False], "L1": [1, 2, 1e6, False]}},
    },
    "too many values": {
        "ask": "sweep",
        "model": {"name": "pendulum:1"},
        "options": {"vary": {"g": [1, 2, 1e12, False]}},
    },
    "a run of too many steps": {
        "ask": "simulate",
        "model": {"name": "pendulum:2"},
        "options": {"until": 1e9, "method": "rk4", "step": 1e-4},
    },
    "a transient without end": {
        "ask": "regulate",
        "model": {"name": "ball-and-beam"},
        "options": {"run": True, "until": 1e9},
    },
    "an export of a file": {"ask": "export", "model": {"name": "sling"}, "options": {"language": "../../os"}},
    "a subject that is a path": {"ask": "published", "options": {"subject": "../../etc"}},
}


@pytest.mark.parametrize("what", QUESTIONS)
def test_U3_what_cannot_be_asked_is_refused_in_words(target: RunningStudio, what: str) -> None:
    begin = time.monotonic()
    last = target.frames(QUESTIONS[what])[-1]
    assert "answer" not in last
    assert last.keys() & {"mistakes", "negative", "refused"}
    assert last.get("refused", {}).get("reason") != "fault", last
    assert time.monotonic() - begin < SECONDS + 20
    assert not (target.folder / "owned").exists()


ENDLESS = {
    "a run without end": {
        "ask": "simulate",
        "model": {"name": "pendulum:2"},
        "options": {"until": 90_000, "method": "rk4", "step": 1e-4},
    },
    "a study without end": {
        "ask": "sweep",
        "model": {"name": "pendulum:3"},
        "options": {"vary": {"g": [1, 2, 200_000, False]}, "until": 1000, "method": "rk4", "step": 1e-3},
    },
}


@pytest.mark.parametrize("what", ENDLESS)
def test_U3_work_without_end_is_stopped(target: RunningStudio, what: str) -> None:
    begin = time.monotonic()
    last = target.frames(ENDLESS[what])[-1]
    assert last["refused"]["reason"] == "time", last
    assert time.monotonic() - begin < SECONDS + 20


def test_U3_memory_is_bounded(tmp_path: Path) -> None:
    """Ten million rows do not fit into 700 MB: the question is refused in words, and the next one is answered."""
    home = tmp_path / "home"
    home.mkdir()
    rows = {"until": 2000, "method": "rk4", "step": 2e-4, "every": 2e-4}
    with RunningStudio(home, ENVIRONMENT, limits="memory=700 << 20") as running:
        assert running.alive
        answer = running.ask("simulate", "pendulum:1", options=rows)
        assert answer == {"refused": {"reason": "memory", "parts": []}}
        assert running.alive


def test_U3_a_folder_that_leads_outside_is_not_written_to(tmp_path: Path) -> None:
    """In a studio of its own: work that others have stopped may go on for a moment, and would find the link too."""
    home, outside = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    outside.mkdir()
    (home / "out").symlink_to(outside)
    question = {
        "ask": "sweep",
        "model": {"name": "pendulum:1"},
        "options": {"vary": {"g": [1, 2, 2, False]}, "until": 0.1},
    }
    with RunningStudio(home, ENVIRONMENT) as running:
        assert "mistakes" in running.frames(question)[-1]
    assert list(outside.iterdir()) == []


def test_U3_scripts_in_names_stay_text(target: RunningStudio) -> None:
    name = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    model = {"name": name, "text": PENDULUM.replace('"p"', f'"{name}"').replace("{potential}", "x^2")}
    status, headers, _ = target.request("POST", "/ask", json.dumps({"ask": "read", "model": model}))
    assert (status, headers["content-type"], headers["x-content-type-options"]) == (
        200,
        "application/octet-stream",
        "nosniff",
    )
    _, headers, _ = target.request("GET", "/")
    policy = headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "default-src 'none'" in policy


def processes(target: RunningStudio) -> int:
    """How many processes the studio has."""
    listed = subprocess.run(
        ["ps", "--ppid", str(target.process.pid), "-o", "pid="], capture_output=True, text=True, check=False
    )
    return len(listed.stdout.split())


def test_U3_a_hundred_tabs(target: RunningStudio) -> None:
    question = json.dumps({"ask": "simulate", "model": {"name": "pendulum:1"}, "options": {"until": 0.5}})

    def tab(_: int) -> int | str:
        try:
            status, _, data = target.request("POST", "/ask", question)
        except OSError:
            return "closed"
        refused = re.search(rb'"reason":\s*"(busy|time)"', data)
        return "answered" if b'"answer"' in data else refused[1].decode() if refused else status

    with ThreadPoolExecutor(100) as pool:
        outcomes = list(pool.map(tab, range(100)))
    assert set(outcomes) <= {
        "answered",
        "busy",
        "time",
        "closed",
        503,
    }  # too many wait, or the bound of time is reached
    assert outcomes.count("answered") >= 3
    assert processes(target) <= 4


def test_U3_a_flood_of_sockets_and_silent_connections(target: RunningStudio) -> None:
    head = (
        f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{target.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n".encode()
    )
    opened = []
    for k in range(200):
        connection = socket.create_connection(("127.0.0.1", target.port), timeout=10)
        opened.append(connection)
        if k % 2:
            connection.sendall(head)
    answers = [c.recv(100) for c in opened[1::2]]
    assert all(status_of(a) in (400, 503) for a in answers)
    for connection in opened:
        connection.close()
    wait_until(lambda: target.request("GET", "/")[0] == 200)


def wait_until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_closing_a_page_ends_its_work(target: RunningStudio) -> None:
    body = json.dumps(ENDLESS["a run without end"]).encode()
    head = f"POST /ask HTTP/1.1\r\nHost: 127.0.0.1:{target.port}\r\nOrigin: {target.origin}\r\n"
    head += f"Content-Type: application/json\r\nCookie: {target.cookie}\r\n"
    with socket.create_connection(("127.0.0.1", target.port), timeout=10) as connection:
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        connection.recv(10)
        working = workers_busy(target)
        assert working
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in working), SECONDS)


def workers_busy(target: RunningStudio) -> list[str]:
    """Processes of the studio that compute, once there are some."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        listed = subprocess.run(
            ["ps", "--ppid", str(target.process.pid), "-o", "pid=,stat="], capture_output=True, text=True, check=False
        )
        running = [line.split()[0] for line in listed.stdout.splitlines() if line.split()[1].startswith("R")]
        if running:
            return running
        time.sleep(0.1)
    return []


def test_beyond_this_machine_there_is_a_token(tmp_path: Path, svyaz) -> None:
    refused = svyaz("studio", "--host", "0.0.0.0", "--no-browser")
    assert refused.returncode == 2
    assert "--token" in refused.stderr
    with RunningStudio(tmp_path, ENVIRONMENT, "--token", "a-long-secret") as studio:
        assert studio.address.endswith("/?token=a-long-secret")
        assert studio.request("GET", "/", headers={"Cookie": ""})[0] == 401
        name = f"svyaz-studio-{studio.port}"
        assert studio.request("GET", "/", headers={"Cookie": f"{name}=a-long-secre"})[0] == 401
        assert studio.request("POST", "/ask", '{"ask": "gallery"}', {"Cookie": ""})[0] == 401
        status, headers, _ = studio.request("GET", "/?token=a-long-secret", headers={"Cookie": ""})
        assert (status, headers["location"]) == (303, "/")
        assert "HttpOnly" in headers["set-cookie"]
        assert "SameSite=Strict" in headers["set-cookie"]
        cookie = headers["set-cookie"].partition(";")[0]
        assert studio.request("GET", "/", headers={"Cookie": cookie})[0] == 200


def test_a_studio_that_ends_takes_its_processes_along(tmp_path: Path) -> None:
    with RunningStudio(tmp_path, ENVIRONMENT) as studio:
        wait_until(lambda: processes(studio) > 0)
        listed = subprocess.run(
            ["ps", "--ppid", str(studio.process.pid), "-o", "pid="], capture_output=True, text=True, check=False
        )
        studio.process.kill()
        wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in listed.stdout.split()))
