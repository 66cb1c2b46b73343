"""`python -m kalos_core`, which is the command line `kalos-core`."""

import sys

from kalos_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
