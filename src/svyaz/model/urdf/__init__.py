"""Robots from URDF files: the links and joints of the file, and the words of a model that says the same."""
