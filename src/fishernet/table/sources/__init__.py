"""Where columns come from: data frames, and the formats of files."""
