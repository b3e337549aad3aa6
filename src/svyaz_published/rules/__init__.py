"""Rules of the sources for the state after a step: one file for each table of model files, with a function ``read``."""
