"""Forms of the equations of nonholonomic systems: operations of the rates, and the time to derive them."""

from __future__ import annotations

TITLE = "Forms of nonholonomic systems against the form with multipliers"
MEASUREMENTS = ("operations", "derivation")
"""Modules of this folder, in the order of the table."""

MODELS = (
    "sleigh",
    "slalom-cart",
    "three-link",
    "three-link:full",
    "three-link-10",
    "three-link-10:printed",
    "rolling-disc",
    "rolling-disc:torques",
    "suslov",
    "chaplygin-ball",
    "voronets-only",
    "ball-on-plane",
    "ball-on-plane:angles",
    "ball-on-plane:printed",
)
"""All gallery models with velocity constraints; NAME:CHOICE is a variant."""

FORMS = ("chaplygin", "voronets", "voronets:carried", "maggi", "appell")
