"""The option that names a workload's load generator. The neutral load needs it too, without the parser of campaigns."""

DEFAULT_GENERATOR = "fio"
GENERATOR_OPTION = "generator"
