"""What is put to a fixed word, what stays, and that nbval reads the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbval.plugin import get_sanitize_patterns

from labkit.course import sanitize
from labkit.errors import CourseError

SAME = [
    ("principal   0s", "principal   14m", "an age"),
    ("principal   3d4h  ", "principal   2y11d", "an age of two units"),
    ("a   True   4   17s\nb   True   4   1s", "a   True   4   2m3s\nb   True   4   18s", "an age in each row"),
    ("x   <unknown>", "x   5s", "an age nobody knows"),
    ("NAME        AGE\nprincipal   1s", "NAME   AGE\nprincipal   1s", "the width of columns"),
    ('"uid":"7c25d8a0-93f2-4db1-8e57-0c1d2b3a4f5e"', '"uid":"00000000-93f2-4db1-8e57-0c1d2b3a4f5e"', "a uid"),
    ("at 2026-11-30T13:08:33Z", "at 2026-12-01T00:00:00.123456+01:00", "a time"),
    ('"resourceVersion":"526"', '"resourceVersion":"71"', "a resource version in JSON"),
    ('resourceVersion: "526"', 'resourceVersion: "71"', "a resource version in YAML"),
    ("mod revision 526", "mod revision 9", "a revision of etcd"),
    ("https://127.0.0.1:45857/apis", "https://127.0.0.1:1234/apis", "a loopback port"),
    ("localhost:1", "localhost:65000", "a loopback port by name"),
    ("/tmp/abc/x.yaml", "/var/tmp/d/e/x.yaml", "a temporary folder"),
    ("/home/a/.local/state/labkit/clusters/held-1-1/kubeconfig", "/x/clusters/lease-77/kubeconfig", "a state folder"),
    ("done in 6.4 s", "done in 11,0 s", "a duration"),
    ("took 120 ms", "took 8 ms", "a short duration"),
    ("+14.2 ms", "-0.01 ms", "a change of a duration"),
    ("<td>R² 0.998</td>", "<td>R² 0.071</td>", "how well a line fits"),
    ("server memory 333.7 MiB", "server memory 1 MiB", "an amount of memory"),
    ("<td>390.6 MiB</td>", "<td>12.0 MiB</td>", "an amount of memory in HTML"),
    ("<object at 0x7f1234>", "<object at 0x1>", "an address"),
    ("a\r\nb\r\n", "a\nb\n", "the line ends of a terminal"),
    (
        'embedded cluster, Kubernetes v1.37.2: at the beginning of "cel"',
        'minikube cluster, Kubernetes v1.36.0+k3s1: at the beginning of "cel"',
        "the cluster of a beginning",
    ),
    (
        "cluster embedded, Kubernetes v1.37.2\u00a0: au début de «\u00a0cel\u00a0»",
        "cluster minikube, Kubernetes v1.36.0+k3s1\u00a0: au début de «\u00a0cel\u00a0»",
        "the cluster of a beginning in French",
    ),
    ("a  \nb ", "a\nb", "blanks at the end of a line"),
]

DIFFERENT = [
    ("generation=3", "generation=4", "a generation"),
    ("principal   2.10.0   4   True", "principal   2.10.0   2   True", "a value in the last column but one"),
    ("replicas   4", "replicas   5", "a bare number in the last column"),
    ("/apis 3855 bytes", "/apis 4023 bytes", "the size of a document"),
    ("Kubernetes v1.37.2", "Kubernetes v1.36.0", "a version"),
    ("embedded cluster, Kubernetes v1.37.2: x", "embedded cluster, Kubernetes v1.36.0: x", "a version elsewhere"),
    ("cours.example.com/v1", "cours.example.com/v1alpha1", "an API version"),
    ("10.0.0.1:443", "10.0.0.1:444", "a port elsewhere"),
    ("crd/01-colis.yaml", "crd/02-colis.yaml", "a manifest's path"),
    ("/tmp/a/x.yaml", "/tmp/a/y.yaml", "the name of a temporary file"),
    ("min (8)", "min (9)", "a number in a message"),
    ("50 definitions", "51 definitions", "a count"),
    ("a\nb", "b\na", "the order of lines"),
    ("ab", "a b", "a word's border"),
]


@pytest.mark.parametrize(("one", "other", "what"), SAME, ids=[case[2] for case in SAME])
def test_what_says_nothing_is_put_to_a_fixed_word(one: str, other: str, what: str) -> None:
    assert sanitize.text(one) == sanitize.text(other), what


@pytest.mark.parametrize(("one", "other", "what"), DIFFERENT, ids=[case[2] for case in DIFFERENT])
def test_what_means_something_stays(one: str, other: str, what: str) -> None:
    assert sanitize.text(one) != sanitize.text(other), what


@pytest.mark.parametrize("given", [one for case in SAME + DIFFERENT for one in case[:2]])
def test_sanitizing_twice_is_sanitizing_once(given: str) -> None:
    once = sanitize.text(given)
    assert sanitize.text(once) == once


def test_nbval_reads_the_same_pairs_in_the_same_order() -> None:
    theirs = get_sanitize_patterns(sanitize.CONFIG.read_text(encoding="ascii"))
    assert [(pair.regex.pattern, pair.replace) for pair in sanitize.load()] == theirs
    assert len(theirs) > 10


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("regex: a\nreplace: \N{EM DASH}\n", "ASCII is wanted"),
        ("regex: a\n\nreplace: b\n", "needs its replace:"),
        ("regex:a\nreplace: b\n", "needs its replace:"),
        ("regex: a\nreplace: b\nregex: a\nreplace: c\n", "stands twice"),
    ],
)
def test_a_file_that_nbval_would_read_otherwise_is_refused(tmp_path: Path, content: str, complaint: str) -> None:
    config = tmp_path / "sanitize.cfg"
    config.write_text(content, encoding="utf-8")
    with pytest.raises(CourseError, match=complaint):
        sanitize.load(config)
