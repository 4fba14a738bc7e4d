"""The option that selects a workload's load generator.

It has its own module, because `load` needs it without the campaign parser.
"""

DEFAULT_GENERATOR = "fio"
GENERATOR_OPTION = "generator"
