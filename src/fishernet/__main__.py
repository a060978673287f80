"""The command line for those whose ``fishernet`` is not on the path: ``python -m fishernet``."""

from fishernet_command import main

main()
