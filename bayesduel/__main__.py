"""``python -m bayesduel`` is the command ``bayesduel``."""

import sys

from bayesduel.cli import main

if __name__ == "__main__":
    sys.exit(main())
