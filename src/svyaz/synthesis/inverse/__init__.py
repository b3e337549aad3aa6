"""Inverse problems: a mechanical system that has a wanted motion; equations that come from a Lagrangian (Helmholtz)."""
