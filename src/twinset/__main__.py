"""`python -m twinset` is the command line."""

from twinset.cli import main

main()
