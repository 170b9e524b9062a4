"""Print what development needs, one requirement a word: pip before 25.1 knows no groups."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
sys.stdout.write(" ".join(project["dependency-groups"]["dev"]) + "\n")
