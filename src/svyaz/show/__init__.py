"""Pictures of motions: plots, animations, tables, the report page."""

from typing import TYPE_CHECKING

from svyaz import open_door

if TYPE_CHECKING:
    from svyaz.show.animation import animate as animate
    from svyaz.show.animation import check_animation_file as check_animation_file
    from svyaz.show.blocks import block_latex as block_latex
    from svyaz.show.blocks import block_page as block_page
    from svyaz.show.blocks import block_record as block_record
    from svyaz.show.branch_diagram import plot_branches as plot_branches
    from svyaz.show.curves import curve_record as curve_record
    from svyaz.show.curves import dense as dense
    from svyaz.show.equations import equations_page as equations_page
    from svyaz.show.equations import gain_page as gain_page
    from svyaz.show.equations import gain_record as gain_record
    from svyaz.show.equations import is_long as is_long
    from svyaz.show.equations import latex_document as latex_document
    from svyaz.show.equations import latex_lines as latex_lines
    from svyaz.show.equations import multiplier_signs as multiplier_signs
    from svyaz.show.equations import reaction_page as reaction_page
    from svyaz.show.equations import reaction_record as reaction_record
    from svyaz.show.equations import sides as sides
    from svyaz.show.equations import text_lines as text_lines
    from svyaz.show.equations import unicode_lines as unicode_lines
    from svyaz.show.files import asset as asset
    from svyaz.show.files import suffix_of as suffix_of
    from svyaz.show.gain_plane import draw_gain_plane as draw_gain_plane
    from svyaz.show.gain_plane import gain_plane_grid as gain_plane_grid
    from svyaz.show.inertia_page import base_parameters_text as base_parameters_text
    from svyaz.show.inertia_page import explicit_latex as explicit_latex
    from svyaz.show.inertia_page import explicit_text as explicit_text
    from svyaz.show.inertia_page import inertia_latex as inertia_latex
    from svyaz.show.inertia_page import inertia_text as inertia_text
    from svyaz.show.inertia_page import parts_latex as parts_latex
    from svyaz.show.inertia_page import parts_text as parts_text
    from svyaz.show.katex import LatexError as LatexError
    from svyaz.show.katex import render as render
    from svyaz.show.katex import stylesheet as stylesheet
    from svyaz.show.living.living import NotLiving as NotLiving
    from svyaz.show.living.living import living_model as living_model
    from svyaz.show.living.page import living_page as living_page
    from svyaz.show.notebooks import formula as formula
    from svyaz.show.notebooks import player_frame as player_frame
    from svyaz.show.overviews import overview as overview
    from svyaz.show.overviews import plot_motion as plot_motion
    from svyaz.show.player import empty_player as empty_player
    from svyaz.show.player import player_page as player_page
    from svyaz.show.player import player_script as player_script
    from svyaz.show.player import scene_record as scene_record
    from svyaz.show.plots import SUFFIXES as SUFFIXES
    from svyaz.show.plots import save as save
    from svyaz.show.plots import save_to as save_to
    from svyaz.show.plots import time_plot as time_plot
    from svyaz.show.plots import traces_plot as traces_plot
    from svyaz.show.positions import Position as Position
    from svyaz.show.positions import plot_positions as plot_positions
    from svyaz.show.positions import positions_figure as positions_figure
    from svyaz.show.positions import positions_scene as positions_scene
    from svyaz.show.records.holding import gains_record as gains_record
    from svyaz.show.records.stability import sure_text as sure_text
    from svyaz.show.records.synthesis import balance_latex as balance_latex
    from svyaz.show.records.synthesis import balance_text as balance_text
    from svyaz.show.records.synthesis import inverse_latex as inverse_latex
    from svyaz.show.report import write_report as write_report
    from svyaz.show.results import as_json as as_json
    from svyaz.show.results import html_of as html_of
    from svyaz.show.results import latex_of as latex_of
    from svyaz.show.scene import Scene as Scene
    from svyaz.show.scene import bounds as bounds
    from svyaz.show.scene import build_scene as build_scene
    from svyaz.show.scene import can_be_drawn as can_be_drawn
    from svyaz.show.scene import finite_span as finite_span
    from svyaz.show.scene import timing as timing
    from svyaz.show.schemes import Angle as Angle
    from svyaz.show.schemes import Length as Length
    from svyaz.show.schemes import Marks as Marks
    from svyaz.show.schemes import Named as Named
    from svyaz.show.schemes import scheme_figure as scheme_figure
    from svyaz.show.style import Looks as Looks
    from svyaz.show.style import in_style as in_style
    from svyaz.show.style import size_of as size_of
    from svyaz.show.sweeps import curve_figure as curve_figure
    from svyaz.show.sweeps import plot_sweep as plot_sweep
    from svyaz.show.sweeps import plot_transients as plot_transients
    from svyaz.show.tables import notebook_table as notebook_table
    from svyaz.show.verdict_words import HELD as HELD
    from svyaz.show.verdict_words import roots_text as roots_text
    from svyaz.show.views import Caption as Caption
    from svyaz.show.views import Line as Line
    from svyaz.show.views import headed as headed
    from svyaz.show.views import lines_figure as lines_figure
    from svyaz.show.views import plot_views as plot_views
    from svyaz.show.views import views_figure as views_figure
else:
    open_door(__name__)
