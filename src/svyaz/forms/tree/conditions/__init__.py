"""The inertia matrix as a function of unknown masses: what conditions on them are read off."""
