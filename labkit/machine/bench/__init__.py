"""Measurements: how long things take and how much memory, each beside its budget, all from one run on one machine.

``make bench`` measures the kit (``python -m labkit.machine.bench``), ``make bench-upstream`` the embedded control plane
against etcd and kube-apiserver as separate programs (``…bench.upstream``). A figure that compares is always a ratio of
two measurements of the same run: seconds of different machines say little.
"""
