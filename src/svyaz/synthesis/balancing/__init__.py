"""Balancing trees: masses that make the inertia matrix constant, the conditions for them, their proof."""
