"""What `fishernet learn` says of every kind of network."""

from __future__ import annotations

from fishernet.cli.terminal.output import Facts, number

Line = tuple[str, str]


def number_or_word(text: str) -> float | str:
    """Return the number that a text is, or the text."""
    try:
        return float(text)
    except ValueError:
        return text


def row_lines(facts: Facts) -> list[Line]:
    """Return how many rows and variables there are."""
    return [
        ("rows", f"{facts['rows']:,} ({facts['training_rows']:,} to learn from, {facts['held_out_rows']:,} held out)"),
        ("variables", f"{len(facts['variables']):,}"),
    ]


def held_out_words(facts: Facts, name: str) -> str:
    """Return how well the rows held out are predicted; the name is that of the fact."""
    if not facts["held_out_rows"]:
        return "none, no rows were held out"
    impossible = facts.get("impossible_rows", 0)  # a density is nowhere 0
    told = f" ({impossible:,} rows have probability 0; --smoothing above 0 helps)" if impossible else ""
    return f"{number(facts[name])} a row{told}"


def seconds_line(facts: Facts) -> Line:
    """Return how long each part took."""
    return "seconds", ", ".join(f"{part} {seconds:.3f}" for part, seconds in facts["seconds"].items())


def saved_lines(facts: Facts, what: str) -> list[Line]:
    """Return where the network was saved and drawn, if it was; what stays is its arcs, inputs or edges."""
    if facts["model"] is None:
        return drawn_lines(facts)
    saved = f"{facts['model']}: these {what}, parameters fitted again on all {facts['rows']:,} rows"
    return [("saved", saved), *drawn_lines(facts)]


def drawn_lines(facts: Facts) -> list[Line]:
    """Return where the graph was drawn, if it was."""
    return [] if facts["plot"] is None else [("drawn", facts["plot"])]
