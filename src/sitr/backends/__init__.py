"""Where rows live: each backend computes exact, bounded integers and nothing else."""
