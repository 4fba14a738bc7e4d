"""The option that selects a workload's load generator, and the width of the default generator's latency bins.

This is a separate module, because `load` needs it without the campaign parser.
"""

DEFAULT_GENERATOR = "fio"
GENERATOR_OPTION = "generator"
DEFAULT_BIN_WIDTH = 1 / 64
"""The width of a bin of the default generator's latency histogram, as a share of the bin's latency.

Campaigns are checked with it before a host is known, and it applies to runs that do not record a width.
"""
