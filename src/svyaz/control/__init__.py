"""Control: controllability and observability, regulators and observers for linear parts of mechanical systems."""
