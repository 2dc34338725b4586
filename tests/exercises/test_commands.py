"""Answers that are lists of kubectl commands: what is read, and what is refused before anything is played."""

from __future__ import annotations

import pytest

from labkit.exercises.commands import CommandRefused, read


def argvs(text: str) -> list[tuple[str, ...]]:
    return [part for command in read(text) for part in command.parts]


def test_commands_are_read_one_a_line_with_quotes_comments_and_continuations() -> None:
    text = (
        "# first\n\n"
        "kubectl apply -f crd/05-colis-v1.yaml # the file\n"
        "kubectl patch crd colis.cours.example.com --subresource=status \\\n"
        '  --type=merge -p \'{"status": {"storedVersions": ["v1"]}}\'\n'
    )
    assert argvs(text) == [
        ("apply", "-f", "crd/05-colis-v1.yaml"),
        (
            "patch",
            "crd",
            "colis.cours.example.com",
            "--subresource=status",
            "--type=merge",
            "-p",
            '{"status": {"storedVersions": ["v1"]}}',
        ),
    ]


def test_a_pipe_leads_from_one_kubectl_to_the_next() -> None:
    (command,) = read("kubectl get colis -n ch54 -o yaml | kubectl replace -f -")
    assert command.parts == (("get", "colis", "-n", "ch54", "-o", "yaml"), ("replace", "-f", "-"))
    assert not command.meanwhile


def test_an_answer_without_a_command_is_none() -> None:
    assert read("# nothing yet\n\n") == ()


@pytest.mark.parametrize(
    "line",
    [
        "kubectl -n ch54 annotate colis --all note=v1 --overwrite",
        "kubectl label --namespace=ch54 cl --all stored=v1",
        "kubectl -nch54 label colis.v1alpha1.cours.example.com mini equipe-",
        "kubectl get Colis -A -ojson",
        "kubectl get -n=ch54 colis.cours.example.com",
        "kubectl wait storageversionmigration/colis-vers-v1 --for=condition=Succeeded --timeout=120s",
        "kubectl wait --for condition=Established crd/colis.cours.example.com --timeout 30s",
        "kubectl delete storageversionmigrations.storagemigration.k8s.io colis-vers-v1 --ignore-not-found",
        "kubectl get colis/mini colis/principal -n ch54",
        "kubectl apply --server-side --force-conflicts -f crd/objects/mini.yaml",
        'kubectl patch crd colis.cours.example.com --type json -p \'[{"op":"remove","path":"/spec/versions/0"}]\'',
    ],
)
def test_what_a_migration_needs_is_played(line: str) -> None:
    assert len(read(line)) == 1


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("rm -rf crd", "only kubectl"),
        ("./kubectl get colis", "only kubectl"),
        ("kubectl", "no command that is played"),
        ("kubectl exec colis -- sh", "the option --"),
        ("kubectl proxy", "no command that is played"),
        ("kubectl my-plugin", "no command that is played"),
        ("kubectl get colis; rm x", "no shell"),
        ("kubectl get colis && kubectl get colis", "no shell"),
        ("kubectl get colis > out", "no shell"),
        ("kubectl get colis &", "no shell"),
        ("kubectl get colis -o name | xargs rm", "only kubectl"),
        ("kubectl get colis |", "only kubectl"),
        ("for x in 1 2; do kubectl get colis; done", "no shell"),
        ("kubectl get $(cat x)", "no shell"),
        ("kubectl get colis 'mini", "quotation mark"),
        ("kubectl apply -f /etc/passwd", "-f /etc/passwd"),
        ("kubectl apply -f crd/../labkit/x.yaml", "-f crd/../labkit/x.yaml"),
        ("kubectl apply -f https://example.com/x.yaml", "-f https"),
        ("kubectl apply -f -", "-f - reads"),
        ("kubectl apply -k crd", "the option -k"),
        ("kubectl apply -fcrd/../x.yaml", "-f crd/../x.yaml"),
        ("kubectl get colis --kubeconfig=x", "the option --kubeconfig"),
        ("kubectl get colis --token x", "the option --token"),
        ("kubectl get colis -s https://example.com", "the option -s"),
        ("kubectl get colis --as=system:admin", "the option --as"),
        ("kubectl get colis -o jsonpath-file=/etc/passwd", "-o jsonpath-file"),
        ("kubectl get colis -o go-template-file=/etc/passwd", "-o go-template-file"),
        ("kubectl patch colis mini --patch-file=/etc/passwd", "the option --patch-file"),
        ("kubectl create configmap x --from-file=/etc/passwd", "the option --from-file"),
        ("kubectl create namespace x", "takes a file"),
        ("kubectl get secrets", "not the exercise's"),
        ("kubectl get colis,secrets", "not the exercise's"),
        ("kubectl delete crd --all", "not the exercise's"),
        ("kubectl delete crd colis.cours.example.com other.example.com", "not the exercise's"),
        ("kubectl delete crd/other.example.com", "not the exercise's"),
        ("kubectl delete colis/mini namespace/ch54", "not the exercise's"),
        ("kubectl delete namespace ch54", "not the exercise's"),
        ("kubectl -n default get colis", "-n default"),
        ("kubectl annotate note=v1", "not said what is meant"),
        ("kubectl wait colis mini --for=condition=x --timeout=9999s", "--timeout 9999s"),
        ("kubectl get colis --watch", "the option --watch"),
    ],
)
def test_anything_else_is_refused(line: str, why: str) -> None:
    with pytest.raises(CommandRefused) as refused:
        read(f"kubectl apply -f crd/05-colis-v1.yaml\n{line}\n")
    assert why in str(refused.value)
