"""Presets: one file each, with a source, in options that fio knows."""

import pkgutil
import shutil
import sys
from pathlib import Path

import pytest

from poolproof.campaign import presets as package
from poolproof.campaign.presets import presets
from poolproof.process import run


def test_every_file_of_the_folder_is_a_preset_of_that_name() -> None:
    files = {found.name for found in pkgutil.iter_modules(package.__path__)} - {"model"}
    assert set(presets()) == files
    assert list(presets()) == ["backup", "etcd", "fileserver", "media", "postgres", "vm"]


@pytest.mark.parametrize("name", presets())
def test_a_preset_says_what_it_stands_for_and_where_that_is_from(name: str) -> None:
    preset = presets()[name]
    assert preset.name == name
    assert "https://" in preset.source
    assert len(preset.summary) <= 100
    documentation = sys.modules[f"{package.__name__}.{name}"].__doc__
    assert documentation is not None
    assert len(documentation.split()) > 50


@pytest.mark.parametrize("name", presets())
@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed: presets were not checked against it")
def test_fio_knows_every_option_of_a_preset(name: str, tmp_path: Path) -> None:
    jobs = tmp_path / "preset.fio"
    sections = [
        "\n".join([f"[{job.name}]", *(f"{key}={value}" for key, value in job.options)]) for job in presets()[name].jobs
    ]
    jobs.write_text("\n".join(sections) + "\n")
    assert run(["fio", "--parse-only", str(jobs)], timeout_s=30).returncode == 0


def test_a_job_that_commits_smaller_blocks_than_a_sector_does_not_ask_for_direct_writes() -> None:
    assert dict(presets()["etcd"].jobs[0].options)["direct"] == "0"
