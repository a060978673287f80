"""``python -m fishernet.cli.demo``."""

from fishernet.cli.demo import demo

demo()
