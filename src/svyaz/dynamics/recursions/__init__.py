"""Dynamics of trees of bodies by recursions over their bodies: no equations are written out."""
