"""Dynamics of trees of bodies: recursions, short formulas, conditions; and what is made of them, terms and native code."""
