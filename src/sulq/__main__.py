"""The command line as `python -m sulq`, where the `sulq` of this Python is not on the path."""

import sys

from sulq.cli import main

if __name__ == "__main__":
    sys.exit(main())
