"""How the results of each room are written; a file has the name of its room (see ``show/results.py``)."""
