"""The option that selects a workload's load generator, and the width of the default generator's latency bins.

This is a separate module, because `load` needs it without the campaign parser.
"""

DEFAULT_GENERATOR = "fio"
GENERATOR_OPTION = "generator"
DEFAULT_BIN_WIDTH = 1 / 64
"""The bin width of the default generator's latency histogram, as a fraction of the bin's latency.

It is used to check campaigns before a host is known, and for runs that did not record a width.
"""
