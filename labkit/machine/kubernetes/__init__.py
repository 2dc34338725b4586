"""The repository's Kubernetes version, and the one command that moves to another: ``make kubernetes VERSION=…``."""
