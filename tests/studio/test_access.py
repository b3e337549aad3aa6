"""Who gets into the studio, and which files its models reach: nobody without the token, none outside of the folder."""

from __future__ import annotations

import json
import os
import pickle
import random
import re
import socket
import sys
import time
import webbrowser
from collections.abc import Callable
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import click
import pytest
from studio_client import RunningStudio

from svyaz.commands.studio import _check_token, _open_browser
from svyaz.library import loads
from svyaz.model import read_named
from svyaz.studio import Limits, StudioSettings, admission, random_token
from svyaz.studio.guard import RefusedRequest, RequestGuard
from svyaz.studio.pages import site_files

NOBODY = 65534
SECRET = "this is nobody's business"
MODEL = f'name = "{SECRET}"\nstates = ["x"]\nrates = {{ x = "-x" }}\n'
Tried = tuple[int, dict[str, str], bytes]


def as_another_user(work: Callable[[], Any]) -> Any:
    """What a process of a user without rights finds; everything it needs has been imported before."""
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            with os.fdopen(writing, "wb") as out:
                pickle.dump(work(), out)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as inside:
        data = inside.read()
    assert os.waitpid(child, 0)[1] == 0
    return pickle.loads(data)  # noqa: S301 (of our own child)


def attempts(studio: RunningStudio) -> list[tuple[str, str, str, dict[str, str]]]:
    """Methods, paths, bodies and headers of somebody who knows all but the token."""
    own = {"Origin": studio.origin, "Content-Type": "application/json"}
    other = {"Host": f"localhost:{studio.port}", "Origin": f"http://localhost:{studio.port}"}
    name = f"svyaz-studio-{studio.port}"
    forged = [f"{name}=", f"{name}=x", f"{name}=None; {name}=*", "svyaz-studio=x", f'{name}="' + "a" * 32 + '"']
    headers = [own, {**own, **other}, {**own, "Sec-Fetch-Site": "same-origin"}]
    headers += [{**own, "Cookie": cookie} for cookie in forged]
    headers += [{**own, "Authorization": "Bearer x"}, {**own, "X-Forwarded-For": "127.0.0.1"}]
    save = json.dumps({"name": "secret.toml", "text": "overwritten", "over": True})
    posts = {
        "/files": "{}",
        "/open": '{"name": "secret.toml"}',
        "/save": save,
        "/ask": '{"ask": "gallery"}',
    }
    tokens = (
        "",
        "?token=",
        "?token=x",
        "?token=%00",
        f"?token={'a' * 32}",
        "?token=a&token=b",
        "?TOKEN=x",
        "?token[]=x",
    )
    found = [
        ("POST", f"{path}{query}", body, h) for path, body in posts.items() for h in headers for query in tokens[:3]
    ]
    pages = ["/", *site_files(), "/formulas.css", "/out/a/report.html", "/secret.toml", "/nowhere", "/ask", "/files"]
    found += [("GET", f"{path}{query}", "", {}) for path in pages for query in tokens[:2]]
    found += [("GET", f"/{query}", "", {"Cookie": cookie}) for query in tokens for cookie in forged]
    return [
        *found,
        *(("HEAD", path, "", {}) for path in pages),
        ("OPTIONS", "/ask", "", own),
        ("PUT", "/save", save, own),
    ]


def tried(port: int, wanted: list[tuple[str, str, str, dict[str, str]]]) -> list[Tried]:
    found: list[Tried] = []
    for method, path, body, headers in wanted:
        connection = HTTPConnection("127.0.0.1", port, timeout=20)
        connection.request(method, path, body or None, headers)
        answer = connection.getresponse()
        found.append((answer.status, dict(answer.getheaders()), answer.read()))
        connection.close()
    return found


def test_V4_another_user_without_the_token_gets_nothing(studio: RunningStudio) -> None:
    """With forged Origin, Host, cookies and tokens: every answer is 3xx or 4xx, and nothing is listed, read or written."""
    (studio.folder / "secret.toml").write_text(MODEL)
    before = sorted(path.name for path in studio.folder.iterdir())
    wanted = attempts(studio)
    tried(studio.port, wanted[:1])  # imports what the child will need
    answers = as_another_user(lambda: tried(studio.port, wanted))
    assert len(answers) == len(wanted) > 150
    assert {status // 100 for status, _, _ in answers} <= {3, 4}
    told = b"".join(body for _, _, body in answers) + repr([h for _, h, _ in answers]).encode()
    token = studio.cookie.partition("=")[2].encode()
    assert not [word for word in (SECRET.encode(), b"secret.toml", b"sling", token) if word in told]
    assert not [h for _, h, _ in answers if {"set-cookie", "location", "etag"} & {name.lower() for name in h}]
    assert (studio.folder / "secret.toml").read_text() == MODEL
    assert sorted(path.name for path in studio.folder.iterdir()) == before
    assert studio.request("POST", "/open", '{"name": "secret.toml"}')[0] == 200  # its owner reads it


def test_V4_the_token_is_random_and_seen_by_nobody_else(
    studio: RunningStudio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new one at every start; no command line shows it, that of the browser included, and no log has it."""
    tokens = {random_token() for _ in range(100)} | {StudioSettings().token for _ in range(100)}
    assert len(tokens) == 200
    assert min(map(len, tokens)) >= 32
    token = studio.cookie.partition("=")[2]
    assert len(token) >= 32
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not [line for line in lines if token.encode() in line]
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    _open_browser(studio.address, tmp_path / "open.html")
    assert opened == [(tmp_path / "open.html").as_uri()]
    assert studio.address in (tmp_path / "open.html").read_text()


@pytest.mark.parametrize(
    ("token", "no_token", "loopback"),
    [
        ("secret", True, True),
        (None, True, False),
        (None, False, False),
        ("short", False, False),
        ("a b", False, True),
        ("", False, True),
        ("a&b", False, True),
        ("é", False, True),
    ],
)
def test_V4_tokens_that_guard_nothing_are_refused(token: str | None, no_token: bool, loopback: bool) -> None:
    with pytest.raises(click.UsageError):
        _check_token(token, no_token, loopback)


def test_V4_only_no_token_lets_everybody_in() -> None:
    _check_token(None, True, True)
    _check_token("long-secret", False, False)
    _check_token(None, False, True)
    host = {"host": "127.0.0.1:1"}
    RequestGuard(frozenset({"127.0.0.1:1"}), "", 1).check("GET", "/", host)
    with pytest.raises(RefusedRequest):
        RequestGuard(frozenset({"127.0.0.1:1"}), "secret", 1).check("GET", "/", host)


def test_V4_the_access_log_has_every_request_and_no_token(studio: RunningStudio) -> None:
    token, log = studio.cookie.partition("=")[2], studio.folder.parent / "access.log"
    time.sleep(0.1)
    before = len(log.read_text())
    for path in ("/", f"/?token={token}", f"/{token}", "/no?where", '/a"b'):
        studio.request("GET", path)
    studio.request("GET", "/", headers={"Cookie": ""})
    _, _, listed = studio.request("POST", "/files", "{}")
    end = time.monotonic() + 10
    while len(lines := log.read_text()[before:].splitlines()) < 7 and time.monotonic() < end:
        time.sleep(0.02)
    pattern = r'127\.0\.0\.1 - - \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d \+0000\] "(\w+ \S+) HTTP/1\.1" (\d+) (\d+)'
    parts = [found.groups() for line in lines if (found := re.fullmatch(pattern, line))]
    assert [(what, status) for what, status, _ in parts] == [
        ("GET /", "200"),
        ("GET /", "303"),
        ("GET /[token]", "404"),
        ("GET /no", "404"),
        ("GET /a%22b", "404"),
        ("GET /", "401"),
        ("POST /files", "200"),
    ]
    assert int(parts[-1][2]) == len(listed)
    assert token not in log.read_text()
    assert log.stat().st_mode & 0o077 == 0


def held_connections(port: int, count: int) -> list[socket.socket]:
    """Connections that say nothing, or half of a request."""
    opened = []
    for k in range(count):
        connection = socket.create_connection(("127.0.0.1", port), timeout=20)
        if k % 2:
            connection.sendall(f"POST /ask HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX: ".encode())
        opened.append(connection)
    return opened


def test_V4_half_open_connections_lock_nobody_out(studio: RunningStudio) -> None:
    """Of 300 half-open connections of one client few are kept; requests with the token are answered at once."""
    opened: list[socket.socket] = []
    slowest = 0.0
    for _ in range(3):
        opened += held_connections(studio.port, 100)
        for _ in range(5):
            begin = time.monotonic()
            assert studio.request("GET", "/")[0] == 200
            slowest = max(slowest, time.monotonic() - begin)
        time.sleep(0.25)
    assert slowest < 5
    held_connections(studio.port, 1)[0].close()
    closed = 0
    for connection in opened:
        connection.setblocking(False)
        try:
            closed += connection.recv(100) != b"" or True
        except BlockingIOError:
            pass
        except ConnectionError:
            closed += 1
        connection.close()
    assert closed >= 200


def test_V4_strangers_never_take_the_place_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the pace and the addresses: connections with the token stay, a new one is always admitted, few are half-open."""
    clock, draw = [0.0], random.Random(4)
    monkeypatch.setattr(admission, "monotonic", lambda: clock[0])
    limits = Limits(connections=40, half_open=8)
    for pace in (1e-5, 1e-2, 1.0):
        gate, dropped = admission.Admission(limits), []
        known = [gate.admit("10.0.0.1", partial(dropped.append, f"known {k}")) for k in range(20)]
        for k, guest in enumerate(known):
            assert guest is not None
            guest.known, guest.busy = True, k % 2 == 0
        for _ in range(2000):
            clock[0] += draw.random() * pace
            assert gate.admit(f"10.0.0.{draw.randint(1, 5)}", partial(dropped.append, "stranger")) is not None
            assert len(gate) <= 2 * limits.connections + 1
        assert set(dropped) == {"stranger"}
        assert len(gate) <= limits.connections + 1 or pace < 1


def robot(name: str) -> str:
    mesh = '<visual><geometry><mesh filename="{}"/></geometry></visual>'
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>'
    return f'<robot name="r"><link name="a"/><link name="b">{inertial}{mesh.format(name)}</link>{joint}</robot>'


def path_tricks(folder: Path, outside: Path) -> list[str]:
    """Names that lead to ``outside`` (a folder with x.urdf, x.csv, x.toml), to what never ends, or to nothing."""
    up = os.path.relpath(outside, folder)
    files = {}
    for ending in ("urdf", "csv"):
        target = outside / f"x.{ending}"
        files |= {f"link.{ending}": target, f"second.{ending}": folder / f"link.{ending}"}
        files |= {
            f"loop.{ending}": folder / f"loop.{ending}",
            f"null.{ending}": "/dev/null",
            f"zero.{ending}": "/dev/zero",
        }
        files |= {f"environ.{ending}": "/proc/self/environ", f"root.{ending}": f"/proc/self/root{target}"}
        files |= {f"cwd.{ending}": f"/proc/self/cwd/../{up}/x.{ending}", f"tty.{ending}": "/dev/tty"}
        files |= {f"relative.{ending}": f"{up}/x.{ending}", f"passwd.{ending}": "/etc/passwd"}
    for name, target in files.items():
        (folder / name).symlink_to(target)
    (folder / "door").symlink_to(outside)
    (folder / "sub").mkdir()
    (folder / "folder.urdf").mkdir()
    (folder / "folder.csv").mkdir()
    found = [*files]
    for ending in ("urdf", "csv"):
        os.mkfifo(folder / f"pipe.{ending}")
        (folder / f"socket.{ending}").symlink_to(f"/dev/fd/{os.getpid()}")
        x = f"x.{ending}"
        found += [
            f"pipe.{ending}",
            f"folder.{ending}",
            f"socket.{ending}",
            f"door/{x}",
            f"sub/../door/{x}",
            f"sub/../{up}/{x}",
        ]
        found += [
            f"{up}/{x}",
            f"./{up}/{x}",
            f"{outside}/{x}",
            f"/{outside}/{x}",
            f"{folder}/{up}/{x}",
            f"~/{x}",
            f"~root/{x}",
        ]
        found += [
            f"{up}/{x}".replace("..", dots) for dots in ("%2e%2e", "%252e%252e", "．．", "‥", "..;", "....", "..\\..")
        ]
        found += [f"{up}/{x}".replace("/", slash) for slash in ("\\", "%2f", "%5c", "∕", "／", "//", "/./")]
        found += [
            f"file://{outside}/{x}",
            f"package://../{x}",
            f"http://127.0.0.1/{x}",
            f"model://{x}",
            f"\\\\host\\{x}",
        ]
        found += [f"{outside}/x.{ending}\0.{ending}", f"\0.{ending}", f"{'a' * 5000}.{ending}", f"{'a/' * 3000}{x}"]
        found += [
            f"{'../' * 40}{outside}/{x}",
            f"$HOME/{x}",
            f"${{PWD}}/{up}/{x}",
            f"`cat`.{ending}",
            f"| cat .{ending}",
        ]
        found += [
            f"{outside}/{x} ",
            f" {outside}/{x}",
            f"{outside}/x.{ending.upper()}",
            f"\ud800.{ending}",
            f"-.{ending}",
            f".{ending}",
        ]
    return found


@pytest.fixture
def tricky(studio: RunningStudio, tmp_path: Path) -> tuple[Path, list[str]]:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.urdf").write_text(robot("x.stl").replace('name="r"', f'name="{SECRET}"'))
    (outside / "x.csv").write_text("t,u\n0,1\n1,2\n")
    inside = tmp_path / "inside"
    inside.mkdir()
    return inside, path_tricks(inside, outside)


def test_V4_no_path_trick_leads_a_reader_out_of_its_folder(
    tricky: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over 100 names of URDF and CSV files: a ModelError each, and nothing hangs; links that stay inside are followed."""
    from svyaz.expr import ModelError

    folder, names = tricky
    monkeypatch.chdir(folder)
    assert len(names) > 100
    for name in names:
        for base in (folder, Path(), folder / "sub" / ".."):
            with pytest.raises(ModelError) as refused:
                read_named(base / name, "table", within=folder)
            assert SECRET not in str(refused.value)
    (folder / "sub" / "real.csv").write_text("0,1\n1,2\n")
    (folder / "inner.csv").symlink_to("sub/real.csv")
    assert read_named(folder / "inner.csv", "table", within=folder) == "0,1\n1,2\n"


def test_V4_no_path_trick_leads_a_model_out_of_the_folder_of_the_studio(studio: RunningStudio, tmp_path: Path) -> None:
    """``urdf``, tables of inputs and meshes, by names of every kind: refused in words, at once."""
    outside, home = tmp_path / "outside", studio.folder / "tricks"
    outside.mkdir()
    home.mkdir()
    (outside / "x.urdf").write_text(robot("x.stl").replace('name="r"', f'name="{SECRET}"'))
    (outside / "x.csv").write_text(f"0,1\n{SECRET},2\n")
    (home / "own.urdf").write_text(robot("package://x/y.stl"))
    begin = time.monotonic()
    for name in path_tricks(home, outside):
        named = {"name": "tricks/m.toml", "text": f"urdf = {json.dumps(name)}"}
        questions: list[dict[str, Any]] = [{"ask": "read", "model": named}]
        if name.endswith(".urdf"):  # as if the model itself lay there
            questions.append({"ask": "read", "model": {"name": name, "text": 'urdf = "x.urdf"'}})
        else:
            questions.append({"ask": "simulate", "model": {"name": "ball-and-beam"}, "settings": {"nu": name}})
        for question in questions:
            last = studio.frames(question)[-1]
            assert "mistakes" in last, (question, last)
            assert SECRET not in json.dumps(last)
    assert time.monotonic() - begin < 60
    (studio.folder / "link.urdf").symlink_to("tricks/own.urdf")
    for name in ("tricks/own.urdf", "link.urdf", "./tricks/../link.urdf"):
        model = {"name": "m.toml", "text": f'urdf = "{name}"'}
        assert studio.frames({"ask": "read", "model": model})[-1]["answer"]


def test_V4_meshes_of_a_robot_are_not_opened(tricky: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever they are called: reading the robot opens no file at all."""
    folder, names = tricky
    monkeypatch.chdir(folder)
    meshes = [quoteattr(name.encode("ascii", "xmlcharrefreplace").decode()) for name in names if name.isprintable()]
    visuals = "".join(f"<visual><geometry><mesh filename={name}/></geometry></visual>" for name in meshes)
    assert len(meshes) > 90
    loads(robot("x.stl"))  # imports what is needed
    watching, opened = True, []
    sys.addaudithook(lambda event, arguments: opened.append(arguments) if watching and event == "open" else None)
    system = loads(robot("x.stl").replace("</link><joint", f"{visuals}</link><joint"), "m.urdf", within=folder)
    watching = False
    assert opened == []
    assert system.coordinates == ("j",)
