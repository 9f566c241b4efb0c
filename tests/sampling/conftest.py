"""Makes the toy problem of this folder importable, in tests and in the processes that they start."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
