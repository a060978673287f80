"""What is done with columns of numbers before a graph of them is learned."""
