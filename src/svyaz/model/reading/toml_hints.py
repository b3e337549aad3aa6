"""What a line that is not TOML was meant to say."""

from __future__ import annotations

import re

CURLY = "“”„‟«»‘’‚″"
"""Quotation marks of print, which no program takes for quotes."""

_PRIMED = re.compile(r"\s*(\w+'{1,2})\s*=\s*(.*)")
_COMMA = re.compile(r"\s*([\w\"']+)\s*=\s*([-+]?\d+),(\d+)\s*(?:#.*)?$")
_FORMULA = re.compile(r"\s*([\w\"']+)\s*=\s*([^\"'\[{#\s][^\"\[{#]*?)\s*(?:#.*)?$")
_HEADER = re.compile(r"\s*\[{1,2}[^\]]*$")


def hint_for(line: str) -> str | None:
    """What to write instead of a line, where that can be guessed."""
    if any(mark in line for mark in CURLY):
        return 'texts stand in straight quotes: "…"'
    primed = _PRIMED.match(line)
    if primed:
        return f'a name with an apostrophe stands in quotes: "{primed[1]}" = {primed[2].strip()}'
    comma = _COMMA.match(line)
    if comma:
        return f"numbers have a decimal point: {comma[1]} = {comma[2]}.{comma[3]}"
    if line.count('"') % 2 and '"""' not in line:
        return "a quote is missing: texts begin and end with one, in the same line"
    if _HEADER.match(line):
        return "the heading of a table is closed by a bracket: [parameters]"
    formula = _FORMULA.match(line)
    if formula and re.search(r"[A-Za-z_]", formula[2]):
        return f'formulas stand in quotes: {formula[1]} = "{formula[2]}"'
    return None
