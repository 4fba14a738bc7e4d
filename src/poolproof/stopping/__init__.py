"""When a figure is known: warm-up, intervals of correlated samples, stationarity, trials together."""
