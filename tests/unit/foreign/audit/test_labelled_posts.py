"""The confusion table of labelled posts: which values count as found, misread or missed."""

import json
from pathlib import Path

import pytest
from benchmarks.posts import judged, missed_goals, posts_folder, table

TEXT = """\
fio --name=a --rw=randread --bs=4k --size=10g --direct=1 --ioengine=libaio --runtime=60 --time_based
  read: IOPS=250, BW=1000KiB/s (1024kB/s)(58.6MiB/60001msec)
"""


def _label(iops: float, line: int) -> dict[str, object]:
    figures = {"direction": "read", "iops": iops, "bw": 1024000.0}
    return {"line": line, "kind": "control", "expect": ["sound", "unproven"], "figures": figures}


def test_each_label_is_found_misread_or_missed(tmp_path: Path) -> None:
    labels = [_label(250.0, 2), _label(300.0, 2), _label(250.0, 40)]
    (tmp_path / "1.txt").write_text(TEXT)
    (tmp_path / "expected.json").write_text(json.dumps({"1.txt": {"kind": "control", "results": labels}}))

    found = judged(tmp_path)

    assert [each.said for each in found] == ["unproven", "misread", "missed"]
    assert table(found)[1].split() == ["control", "0", "1", "0", "0", "0", "1", "1", "3"]
    assert [goal for goal in missed_goals(found) if "misread" in goal]


def test_the_folder_of_posts_is_found_above_a_worktree(tmp_path: Path) -> None:
    posts = tmp_path / "shared" / "cases" / "posts"
    posts.mkdir(parents=True)
    (posts / "expected.json").write_text("{}")

    assert posts_folder([], tmp_path / "worktrees" / "one") == posts


def test_a_folder_without_labels_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"expected\.json .*: python -m benchmarks\.posts FOLDER"):
        posts_folder([str(tmp_path)], tmp_path)
