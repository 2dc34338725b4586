"""Exercises: what is asked, what a check plays on a cluster, and what a student is told."""
