"""Arrows only point down: the contracts in pyproject.toml hold, and they are able to fail."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT_IMPORTS = [str(Path(sys.executable).parent / "lint-imports"), "--no-logo", "--no-cache"]


def lint_imports(folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        LINT_IMPORTS,
        check=False,
        cwd=folder,
        env=environment | {"NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )


def contracts() -> dict[str, object]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["tool"]["importlinter"]


def test_every_import_contract_is_kept() -> None:
    found = lint_imports(ROOT, {})

    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("core/clock.py", "import teahouse.chat.ports", "Layers point down"),
        ("server/app.py", "import teahouse.store", "Layers point down"),
        ("chat/ports.py", "import litestar", "Only the server knows the web framework"),
        ("agent/ports.py", "import sqlalchemy", "Databases only in the store"),
        ("chat/ports.py", "import aiohttp", "HTTP clients live behind one seam each"),
    ],
)
def test_an_import_that_points_up_is_found(
    module: str, line: str, contract: str, tmp_path: Path
) -> None:
    subprocess.run(["cp", "-r", str(ROOT / "src"), str(tmp_path)], check=True, timeout=60)
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text("utf-8"), "utf-8")
    broken = tmp_path / "src" / "teahouse" / module
    broken.write_text(f"{broken.read_text('utf-8')}\n{line}\n", "utf-8")

    found = lint_imports(tmp_path, {"PYTHONPATH": str(tmp_path / "src")})

    assert found.returncode == 1, found.stdout + found.stderr
    assert f"{contract} BROKEN" in found.stdout


def test_every_package_is_placed_in_a_layer() -> None:
    layers = " ".join(contracts()["contracts"][0]["layers"]).replace("|", " ").split()  # type: ignore[index]
    package = ROOT / "src" / "teahouse"
    found = {
        path.stem
        for path in package.iterdir()
        if path.suffix == ".py" or (path.is_dir() and (path / "__init__.py").exists())
    } - {"__init__"}

    assert found == set(layers)
