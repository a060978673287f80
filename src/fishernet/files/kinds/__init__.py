"""How each kind of model is written in the library's own file, and read back."""
