"""The models, one file each: a model file, or a Python file that makes its text and declares it as ``MODEL``."""
