"""`poolproof presets`: the predefined workloads."""

from poolproof.cli.options import Json
from poolproof.cli.output import print_answer


def command(as_json: Json = False) -> None:
    """List the predefined workloads with their fio options."""
    from poolproof.campaign.presets import PRESETS

    rows, lines = [], []
    for preset in PRESETS.values():
        jobs = {job.name: dict(job.options) for job in preset.jobs}
        rows.append({"name": preset.name, "summary": preset.summary, "metric": preset.metric, "jobs": jobs})
        lines.append(f"{preset.name}: {preset.summary}")
        lines += [f"  {' '.join(f'{key}={value}' for key, value in job.options)}" for job in preset.jobs]
    print_answer(rows, lines, as_json=as_json)
