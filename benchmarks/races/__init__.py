"""What is raced: jobs, who runs each, and what is hoped for. One module a kind of race; `programme` lists them all."""

from benchmarks.races.programme import all_races
from benchmarks.races.race import TOPICS, Race, Target, who

__all__ = ["TOPICS", "Race", "Target", "all_races", "who"]
