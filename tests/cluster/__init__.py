"""Tests of labkit.cluster; one contract suite runs on every backend."""
