"""Figures carry the data they claim to show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from svyaz.show import plots
from svyaz.show.overviews import energy_plot, overview, plot_motion


def lines(figure, panel: int = 0) -> dict[str, np.ndarray]:
    return {line.get_label(): np.asarray(line.get_xydata()) for line in figure.axes[panel].get_lines()}


def test_coordinates_and_velocities_are_the_columns(sling) -> None:
    drawn = lines(plots.coordinates_plot(sling))
    assert list(drawn) == [f"$u_{{{k}}}$" for k in range(1, 6)]
    for k in range(5):
        assert drawn[f"$u_{{{k + 1}}}$"] == pytest.approx(np.column_stack([sling.times, sling.states[:, k]]))
    velocities = lines(plots.velocities_plot(sling))
    assert velocities[r"$\dot{u}_{3}$"][:, 1] == pytest.approx(sling.states[:, 7])


def test_big_systems_show_twelve_curves_and_say_so(long_chain) -> None:
    figure = plots.coordinates_plot(long_chain)
    drawn = lines(figure)
    assert len(drawn) == 12
    assert {"$u_{1}$", "$u_{40}$"} <= set(drawn)
    assert figure.axes[0].get_title(loc="left") == "Coordinates (12 of 40)"


def test_time_plot_of_chosen_columns(constrained) -> None:
    drawn = lines(plots.time_plot(constrained, ["y", "x'"]))
    assert list(drawn) == ["$y$", r"$\dot{x}$"]


def test_energy_and_its_drift(sling) -> None:
    figure = energy_plot(sling)
    energies = lines(figure)
    assert energies["$T$"][:, 1] + energies["$P$"][:, 1] == pytest.approx(energies["$E$"][:, 1])
    (drift,) = lines(figure, 1).values()
    energy = sling.integrals["energy"]
    wanted = np.abs(energy - energy[0]) / max(abs(energy[0]), sling.kinetic.max())
    shown = np.isfinite(drift[:, 1])
    assert drift[shown, 1] == pytest.approx(wanted[shown])
    assert (wanted[~shown] == 0).all()
    assert figure.axes[1].get_yscale() == "log"


def test_an_energy_that_never_changes_is_said_in_words(constrained) -> None:
    figure = energy_plot(constrained)
    assert [text.get_text() for text in figure.axes[1].texts] == ["exactly zero"]
    plots.save_to(figure, Path("/dev/null"), ".svg")


def test_residuals_are_absolute_on_a_logarithmic_axis(constrained) -> None:
    figure = plots.residuals_plot(constrained)
    rod = lines(figure)["rod"]
    shown = np.isfinite(rod[:, 1])
    assert rod[shown, 1] == pytest.approx(np.abs(constrained.residuals["rod"])[shown])
    assert figure.axes[0].get_yscale() == "log"


def test_multipliers(constrained) -> None:
    assert lines(plots.multipliers_plot(constrained))["rod"][:, 1] == pytest.approx(constrained.multipliers["rod"])


def test_path_has_equal_scales_and_the_traced_point(constrained) -> None:
    figure = plots.planar_path(constrained)
    assert figure.axes[0].get_aspect() == 1
    assert lines(figure)["bob"] == pytest.approx(constrained.states[:, :2])


def test_path_of_a_spatial_motion_has_no_numbers_on_its_axes(spatial) -> None:
    axes = plots.planar_path(spatial).axes[0]
    assert not len(axes.get_xticks())
    assert "bob" in {line.get_label() for line in axes.get_lines()}


def test_S3_four_pictures_of_the_sling(sling) -> None:
    figure = plots.traces_plot(sling, [0.25, 0.5, 0.75, 1.0])
    assert [axes.get_title(loc="left") for axes in figure.axes] == [f"0 ≤ $t$ ≤ {t:g}" for t in (0.25, 0.5, 0.75, 1.0)]
    for axes, positions in zip(figure.axes, (11, 21, 31, 41), strict=True):
        assert axes.get_aspect() == 1
        assert [len(links.get_segments()) for links in axes.collections] == [positions] * 5
    # Equal intervals of 0.025, and every fifth stored row is one of them.
    third = figure.axes[3].collections[2].get_segments()
    u = sling.states[::5, :3]
    corner = np.stack([np.sin(u[:, 0]) + np.sin(u[:, 1]), -np.cos(u[:, 0]) - np.cos(u[:, 1])], axis=1)
    tip = corner + 3 * np.stack([np.sin(u[:, 2]), -np.cos(u[:, 2])], axis=1)
    assert np.array(third)[:, 0] == pytest.approx(corner, abs=1e-9)
    assert np.array(third)[:, 1] == pytest.approx(tip, abs=1e-9)


def test_moments_outside_the_motion(sling) -> None:
    assert len(plots.traces_plot(sling, [0.5, 7.0]).axes) == 1
    with pytest.raises(ValueError, match="from 0 to 1"):
        plots.traces_plot(sling, [7.0])


def test_phase_plane(sling) -> None:
    figure = plots.phase_plot(sling)
    curve = figure.axes[1].get_lines()[0].get_xydata()
    assert curve == pytest.approx(np.column_stack([sling.states[:, 1], sling.states[:, 6]]))


def test_overview_has_a_panel_for_everything(constrained) -> None:
    titles = [axes.get_title(loc="left") for axes in overview(constrained).axes]
    assert titles[:5] == ["Coordinates", "Path", "Velocities", "Multipliers", "Residuals and energy drift"]


def test_overview_of_a_bare_system(constrained) -> None:
    bare = replace(constrained, residuals={}, multipliers={}, integrals={}, kinetic=None, potential=None)
    bare = replace(bare, system=type(bare.system)(**{**vars(bare.system), "drawings": ()}))
    titles = [axes.get_title(loc="left") for axes in overview(bare).axes]
    assert titles == ["Coordinates", "Velocities"]


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_files_by_suffix(constrained, tmp_path: Path, suffix: str, start: bytes) -> None:
    path = plot_motion(constrained, tmp_path / f"motion{suffix}")
    assert path.read_bytes().startswith(start)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_unknown_suffix_names_the_possible_ones(constrained, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.png, \.svg, \.pdf"):
        plot_motion(constrained, tmp_path / "motion.bmp")


def test_nothing_is_half_written(constrained, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "motion.png"
    path.write_text("what was there")

    def full_disk(figure, target, suffix) -> None:
        Path(target).write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(plots, "save_to", full_disk)
    with pytest.raises(OSError, match="No space left"):
        plot_motion(constrained, path)
    assert path.read_text() == "what was there"
    assert list(tmp_path.iterdir()) == [path]


def test_a_diverged_motion_still_has_its_figures(constrained, tmp_path: Path) -> None:
    states = constrained.states.copy()
    states[-1] = np.nan
    drawn = plot_motion(replace(constrained, states=states, status="diverged"), tmp_path / "motion.png")
    assert drawn.stat().st_size > 10_000
