"""From labels to codes: types, bins, states, and what to do with missing and unknown cells."""
