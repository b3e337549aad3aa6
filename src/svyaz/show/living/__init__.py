"""Living pages: a mechanism that is computed in the browser, in one file that needs nothing else."""
