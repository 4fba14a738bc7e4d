"""`poolproof devices`: list a machine's disks, their names for campaigns, and whether they can be used."""

from poolproof.cli.options import LOCAL, Json, On
from poolproof.cli.output import aligned, print_answer


def command(on: On = LOCAL, as_json: Json = False) -> None:
    """List the disks of a machine, and the models of emulated disks.

    Each line shows the disk's name for campaigns, and the disk's contents or use. Only a free, empty
    disk can be used, and only with --wipe.
    """
    from poolproof.devices.emulated.model import MODELS
    from poolproof.devices.guard import refusal, state
    from poolproof.facts.block import block_devices
    from poolproof.lab.reach import reach_host
    from poolproof.units import format_size

    disks, rows = [], []
    with reach_host(on) as host:
        found = [disk for disk in block_devices(host) if disk.kind == "disk"]
    for disk in found:
        refused = refusal(disk)
        disks.append(
            {
                "identity": disk.identity,
                "path": disk.path,
                "size_bytes": disk.size_bytes,
                "model": disk.model,
                "serial": disk.serial,
                "rotational": disk.rotational,
                "usable": refused is None and bool(disk.identity),
                "state": state(disk),
                "hint": refused.hint if refused else "",
            }
        )
        name = f"disk:{disk.identity}" if disk.identity else "(no serial number or WWN: cannot be used in a campaign)"
        kind = "rotational" if disk.rotational else "solid state"
        rows.append((disk.path, format_size(disk.size_bytes), disk.model, kind, name, state(disk)))
    models = {name: model.summary for name, model in MODELS.items()}
    emulated = aligned([(f"emulate:{name}", summary) for name, summary in models.items()])
    print_answer({"disks": disks, "models": models}, [*aligned(rows), "", *emulated], as_json=as_json)
