"""The folders of src/ see only what src/layers.txt allows (scripts/layers.py, which `make lint` runs)."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "layers.py"
spec = importlib.util.spec_from_file_location("layers", SCRIPT)
layers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(layers)


def test_every_include_follows_the_layers():
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_list_of_layers_has_no_arrow_up():
    """A layer sees only layers that the list names before it."""
    seen = set()
    for name, allowed in layers.allowed_edges((layers.SOURCE / "layers.txt").read_text()).items():
        assert allowed <= seen | {name}, f"{name} may see {allowed - seen - {name}}, which come behind it"
        seen.add(name)
    assert seen == {p.name for p in layers.SOURCE.iterdir() if p.is_dir()}


def test_an_include_that_goes_up_is_found(tmp_path, monkeypatch, capsys):
    source = tmp_path / "src"
    (source / "core").mkdir(parents=True)
    (source / "graph").mkdir()
    (source / "layers.txt").write_text("core:\ngraph: core\n")
    (source / "core" / "a.h").write_text('#include "graph/b.h"\n')
    (source / "graph" / "b.h").write_text('#include "core/a.h"\n')
    monkeypatch.setattr(layers, "SOURCE", source)
    assert layers.main([]) == 1
    out = capsys.readouterr().out
    assert "src/core/a.h includes graph/b.h: core may not see graph" in out
    assert "a circle of includes: core/a.h, graph/b.h" in out
