"""Makes `declared` importable: what the tests of declarations have in common."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
