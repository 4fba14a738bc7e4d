"""The option that selects a workload's load generator, and the latency bin width of the default generator.

They have a module of their own, so that `load` can use them without importing the campaign parser.
"""

DEFAULT_GENERATOR = "fio"
GENERATOR_OPTION = "generator"
DEFAULT_BIN_WIDTH = 1 / 64
"""The width of the default generator's latency bins, as a fraction of the latency.

It is used to check campaigns before the host is known, and for runs that did not record a width.
"""
