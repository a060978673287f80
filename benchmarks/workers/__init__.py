"""What runs inside a worker's process: the job it reads, the clock, our own worker and the one that times imports."""
