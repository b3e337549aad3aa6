"""When the equations of a run change: at given times, where a chart degenerates, at events of the motion."""
