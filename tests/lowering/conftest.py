"""Makes `injection` importable: known functions in the networks' place."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
