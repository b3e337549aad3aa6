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
