"""Recursions over the bodies, each written once for numbers, batches of numbers and expressions."""
