"""Constraints that events of the motion switch: conditions and their location, contacts, impacts."""
