"""The complete package is installed, including its data files."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
_LIMIT_S = 100


def test_the_wheel_holds_every_file_of_the_package(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*argv, "--wheel-dir", str(tmp_path), str(ROOT)], timeout=_LIMIT_S, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("poolproof-*.whl")
    package = ROOT / "src" / "poolproof"
    wanted = {
        str(path.relative_to(package.parent))
        for path in package.rglob("*")
        if path.is_file() and path.suffix != ".pyc" and "__pycache__" not in path.parts
    }
    assert {"poolproof/campaign/grammar.lark", "poolproof/campaign/demo.yaml"} <= wanted
    assert wanted <= set(zipfile.ZipFile(wheel).namelist())
