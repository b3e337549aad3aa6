"""Dynamics of trees of bodies: recursions written once for numbers, batches of numbers and expressions."""
