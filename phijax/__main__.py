"""`python -m phijax` is the command line."""

import sys

from phijax.cli import main

if __name__ == "__main__":
    sys.exit(main())
