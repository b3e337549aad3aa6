"""Constraints: what they are, whether they fit together, and how deviations from them are made to die out."""
