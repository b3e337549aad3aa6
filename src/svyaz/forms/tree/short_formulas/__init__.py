"""The inertia matrix in few operations: by poles and axes, by clusters of parallel axes, as named formulas."""
