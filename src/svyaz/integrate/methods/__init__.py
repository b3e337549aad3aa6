"""One file a method: its tableau as data, its order, and where it was published."""
