"""The course as pages: what a reader sees who has a browser and nothing else."""
