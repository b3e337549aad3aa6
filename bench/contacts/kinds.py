"""All kinds of models with contacts."""

from __future__ import annotations

from bench.contacts.grazing import GRAZING
from bench.contacts.models import FALLING
from bench.contacts.piles import PILES

KINDS = {**FALLING, **GRAZING, **PILES}
"""From a kind and a seed to a case."""
