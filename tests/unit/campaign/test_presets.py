"""Every preset has a source, and fio accepts its options."""

from pathlib import Path

import pytest

from poolproof.campaign.presets import PRESETS
from poolproof.process import run
from tests.unit.load.fio.needs_fio import needs_fio


def test_the_presets_are_in_alphabetical_order() -> None:
    assert list(PRESETS) == ["backup", "etcd", "fileserver", "media", "postgres", "vm"]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_has_a_short_summary_and_a_source(name: str) -> None:
    preset = PRESETS[name]
    assert preset.name == name
    assert "https://" in preset.source
    assert len(preset.summary) <= 100


@pytest.mark.parametrize("name", PRESETS)
@needs_fio
def test_fio_knows_every_option_of_a_preset(name: str, tmp_path: Path) -> None:
    jobs = tmp_path / "preset.fio"
    sections = [
        "\n".join([f"[{job.name}]", *(f"{key}={value}" for key, value in job.options)]) for job in PRESETS[name].jobs
    ]
    jobs.write_text("\n".join(sections) + "\n")
    assert run(["fio", "--parse-only", str(jobs)], timeout_s=30).returncode == 0


def test_a_job_that_commits_smaller_blocks_than_a_sector_does_not_ask_for_direct_writes() -> None:
    assert dict(PRESETS["etcd"].jobs[0].options)["direct"] == "0"
