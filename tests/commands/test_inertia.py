"""``svyaz inertia``: what it writes, where it evaluates, what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def test_json_has_what_the_contract_says(svyaz) -> None:
    done = svyaz("inertia", "planar-2r", "--at", "q2=30*deg", "--json", "-")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["coordinates"] == ["q1", "q2"]
    assert result["operations"] == {"add": 3, "mul": 1, "div": 0, "trig": 1, "angle_sum": 1, "other": 0}
    assert {"svyaz", "model", "constants", "sequence", "matrix", "parameters", "initial"} <= result.keys()
    p = result["parameters"]
    cosine, sine = 0.75**0.5, 0.5
    pull = p["m2"] * p["L1"] * (p["x2"] * cosine - p["y2"] * sine)
    h22, h21 = p["I2"], p["I2"] + pull
    h11 = p["I1"] + p["I2"] + p["m2"] * p["L1"] ** 2 + 2 * pull
    assert result["value"] == [pytest.approx([h11, h21]), pytest.approx([h21, h22])]


@pytest.mark.parametrize("language", ["c", "python", "latex", "json", "text"])
def test_all_formats_are_written(svyaz, language, tmp_path) -> None:
    out = tmp_path / "arm"
    done = svyaz("inertia", "three-link-arm", "--format", language, "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "cos" in out.read_text()


def test_counts_do_not_depend_on_the_numbers_of_the_model(svyaz) -> None:
    plain = json.loads(svyaz("inertia", "three-link-arm", "--json", "-").stdout)
    changed = svyaz("inertia", "three-link-arm", "--set", "B=0", "--set", "L2=0", "--set", "x3=0", "--json", "-")
    assert json.loads(changed.stdout)["operations"] == plain["operations"]


def test_c_text_compiles_and_gives_the_matrix(svyaz, tmp_path) -> None:
    text = svyaz("inertia", "puma-560", "--format", "c").stdout
    at = "q1=0.3,q2=-0.4,q3=0.9,q4=1.1,q5=-0.7,q6=0.2"
    result = json.loads(svyaz("inertia", "puma-560", "--at", at, "--json", "-").stdout)
    names = list(result["parameters"])
    values = ", ".join(repr(result["parameters"][name]) for name in names)
    main = f"""
#include <stdio.h>
int main(void) {{
    double p[] = {{{values}}}, c[1000], out[21], x[] = {{0.3, -0.4, 0.9, 1.1, -0.7, 0.2}};
    constants(p, c);
    step(x, c, out);
    for (int i = 0; i < 21; i++) printf("%.17g\\n", out[i]);
    return 0;
}}
"""
    source = tmp_path / "puma.c"
    source.write_text(text + main)
    compiler = subprocess.run(["cc", "-O1", str(source), "-lm", "-o", str(tmp_path / "puma")], check=False)
    if compiler.returncode != 0 and sys.platform != "linux":
        pytest.skip("no C compiler")
    found = [
        float(line) for line in subprocess.run([tmp_path / "puma"], capture_output=True, check=True).stdout.split()
    ]
    triangle = [result["value"][i][j] for i in range(6) for j in range(i + 1)]
    assert found == pytest.approx(triangle, rel=1e-12, abs=1e-14)


def _numbers(text: str, values: dict) -> float:
    from math import atan2, cos, sin, sqrt

    return eval(text.replace("^", "**"), {"sin": sin, "cos": cos, "atan2": atan2, "sqrt": sqrt}, values)


@pytest.mark.parametrize("name", ["three-link-arm", "two-armed-spatial", "stanford"])
def test_explicit_entries_show_the_parameters_and_give_the_matrix(svyaz, name) -> None:
    at = {f"q{k}": 0.3 * k - 0.8 for k in range(1, 8)}
    system = json.loads(svyaz("inertia", name, "--json", "-").stdout)
    place = {q: at[q] for q in system["coordinates"]}
    words = ",".join(f"{q}={value!r}" for q, value in place.items())
    done = svyaz("inertia", name, "--explicit", "--at", words, "--json", "-")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    found = [[_numbers(entry, {**result["parameters"], **place}) for entry in row] for row in result["elements"]]
    for ours, theirs in zip(found, result["value"], strict=True):
        assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-13)


def test_explicit_text_and_groups(svyaz) -> None:
    text = svyaz("inertia", "planar-2r", "--explicit", "--base-parameters").stdout
    assert "H21 = L1*m2*x2*cos(q2) - L1*m2*y2*sin(q2) + I2\n" in text
    assert "  zz1R = m2*L1^2 + I1\n" in text
    assert "xx1R" not in text
    latex = svyaz("inertia", "planar-2r", "--explicit", "--format", "latex").stdout
    assert "H_{22} &= I_{2}" in latex


def test_long_ways_are_not_written_out(svyaz) -> None:
    done = svyaz("inertia", "chain:12", "--explicit")
    assert done.returncode == 2
    assert "directions of axes" in done.stderr


def test_doubles_become_sums_on_request(svyaz) -> None:
    plain = json.loads(svyaz("inertia", "puma-560", "--minimise", "time", "--json", "-").stdout)["operations"]
    sums = json.loads(svyaz("inertia", "puma-560", "--minimise", "time", "--double-by-sum", "--json", "-").stdout)
    assert sums["operations"]["mul"] < plain["mul"]
    assert sums["operations"]["add"] > plain["add"]


KEPT = (
    "planar-2r", "planar-3r", "planar-6r", "three-link-arm", "two-armed-planar", "two-armed-spatial", "scara", "puma-560",
    "stanford",
)  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_T4_the_shortest_sequence_is_kept_in_the_gallery(name) -> None:
    """Computed line by line it gives the matrix by Jacobians, and today's search finds nothing shorter."""
    import re
    import tomllib

    import numpy as np
    from tree_by_jacobians import inertia_matrix, links_from

    from svyaz import loads
    from svyaz.forms.tree.short_formulas.inertia import write_inertia
    from svyaz.gallery.collection import find, sequence

    system = loads(find(name), name)
    constants, steps = (
        [line.strip().split(" = ", 1) for line in part.splitlines() if " = " in line]
        for part in re.search(
            r"constants, once:\n(.*?)\n\nin each position:\n(.*?)\n\n", sequence(name), re.DOTALL
        ).groups()
    )
    table = re.search(r"inertia matrix, .*:\n(.*?)\n\n", sequence(name), re.DOTALL)[1].splitlines()
    q = dict(zip(system.coordinates, np.linspace(-0.9, 1.3, len(system.coordinates)), strict=True))
    known = {**system.parameters, **q}
    for key, formula in (*constants, *steps):
        known[key] = _numbers(formula, known)
    found = [[_numbers(entry, known) for entry in re.split(r"\s{2,}", row.strip())] for row in table]
    links = links_from(tomllib.loads(find(name)), lambda word: float(_numbers(str(word), dict(system.parameters))))
    np.testing.assert_allclose(found, inertia_matrix(links, list(q.values())), rtol=1e-11, atol=1e-12)
    kept = {kind: int(count) for count, kind in re.findall(r"(\d+) (add|mul)", sequence(name))}
    now = write_inertia(system.tree, tuple(system.parameters)).operations
    assert kept["add"] + kept["mul"] <= now["add"] + now["mul"]


def test_the_gallery_prints_kept_sequences(svyaz) -> None:
    assert "108 mul" in svyaz("gallery", "puma-560", "--sequence").stdout
    done = svyaz("gallery", "sling", "--sequence")
    assert done.returncode == 2
    assert "no sequence is kept" in done.stderr


def test_a_quaternion_must_have_the_length_one(svyaz, tmp_path) -> None:
    (tmp_path / "body.toml").write_text(
        'name = "body"\n[[body]]\nname = "b"\nbase = "ground"\njoint = "free"\n'
        'coordinates = ["x", "y", "z", "e0", "e1", "e2", "e3"]\nmass = 2\ncenter = [0.1, 0, 0]\n'
        "inertia = { xx = 1, yy = 1.1, zz = 0.9 }\n"
    )
    done = svyaz("inertia", "body.toml", "--at", "e0=0.5")
    assert done.returncode == 2
    assert "length 1" in done.stderr
    result = json.loads(svyaz("inertia", "body.toml", "--at", "e0=0.6,e1=0.8", "--json", "-").stdout)
    assert result["value"][0] == pytest.approx([2, 0, 0, 0, 0, 0])
    assert result["value"][1][5] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("sling",), "not a tree of bodies"),
        (("planar-2r", "--at", "q3=1"), "there is no coordinate 'q3'"),
        (("planar-2r", "--at", "q2"), "NAME=VALUE"),
        (("planar-2r", "--at", "q2=nonsense("), "nonsense"),
        (("planar-2r", "--format", "cobol"), "cobol"),
    ],
)
def test_bad_input_is_told(svyaz, arguments, words) -> None:
    done = svyaz("inertia", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""


def test_N1_3_1_whether_a_file_can_be_written_is_known_before_the_work(tmp_path, monkeypatch) -> None:
    from svyaz.commands import inertia as module

    def never(*asked: object) -> None:
        raise AssertionError("the matrix is written")

    (tmp_path / "no-folder").touch()
    monkeypatch.setattr(module, "_inertia", never)
    with pytest.raises(OSError, match="no-folder"):
        module.command.main(["planar-2r", "--out", str(tmp_path / "no-folder" / "arm.c")], standalone_mode=False)
