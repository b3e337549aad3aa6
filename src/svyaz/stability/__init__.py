"""Stability: equilibria, first approximations in redundant coordinates, zero roots and critical cases."""
