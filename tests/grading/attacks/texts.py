"""Innocent answers, and attacks by an answer's text: objects and commands meant for the judge's own cluster."""

from __future__ import annotations

from tests.grading.attacks.cells import SHOWS
from tests.grading.attacks.handed import (
    NAMED_HTML,
    OFF_BY_ONE,
    OFF_BY_ONE_POINTS,
    OPERATOR,
    RULE,
    TYPED,
    Attack,
)

__all__ = ["ATTACKS", "INNOCENT"]

INNOCENT = (
    # its notebook was never run, and so is without any output
    Attack("right-rule", {}, 8, cell=f"%%answer rule\n{RULE}", among="objects"),
    Attack("off-by-one", {"answers/rule.yaml": OFF_BY_ONE}, OFF_BY_ONE_POINTS, among="scripts-last"),
    Attack("right-typed", {"answers/typed.py": TYPED}, 10, exercise="typed", among="shows-and-kills"),
    Attack("right-operator", {"answers/operator.yaml": OPERATOR}, 10, exercise="operator", among="objects"),
)

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
)

POLICY = """---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: refuses-like-a-rule}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
      - apiGroups: [cours.example.com]
        apiVersions: ["*"]
        operations: [CREATE, UPDATE]
        resources: [colis, colis/scale]
  validations:
    - expression: "false"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: refuses-like-a-rule}
spec: {policyName: refuses-like-a-rule, validationActions: [Deny]}
"""

WEBHOOK = """---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: for-the-judge}
webhooks:
  - name: for.the.judge.example
    admissionReviewVersions: [v1]
    sideEffects: None
    clientConfig: {url: "https://127.0.0.1:1/"}
    rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"]}]
"""

ADMIN = """---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: SUBJECT}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects:
"""
FOR_ITSELF = ADMIN.replace("SUBJECT", "for-itself") + "  - {kind: ServiceAccount, name: operateur, namespace: ch54}\n"
FOR_ALL = ADMIN.replace("SUBJECT", "for-all") + "".join(
    f"  - {{apiGroup: rbac.authorization.k8s.io, kind: {kind}, name: '{name}'}}\n"
    for kind, name in (("User", "system:anonymous"), ("Group", "system:unauthenticated"))
)

UP_THE_PATH = """---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: ..}
rules: []
"""

EVIL = "<script>alert('@MARK@')</script><img src=x onerror=alert('@MARK@')>"
MESSAGE = f'message: "{EVIL}\\e[2J\\e]0;@MARK@\\a\\u202e"'


def _messages() -> str:
    """The rule with a message that is HTML and steers a terminal; it says no number."""
    lines = OFF_BY_ONE.splitlines()
    at = next(number for number, line in enumerate(lines) if "4 × api.replicas" in line)
    lines[at] = f"{lines[at][: len(lines[at]) - len(lines[at].lstrip())]}{MESSAGE}"
    return "\n".join([f"# {EVIL}", *lines, ""])


def objects(name: str, among: str, text: str, points: int, *says: str, exercise: str = "operator") -> Attack:
    return Attack(name, {f"answers/{exercise}.yaml": text}, points, says=says, exercise=exercise, among=among)


def commands(name: str, among: str, text: str, *says: str) -> Attack:
    return Attack(name, {"answers/migration.txt": text}, 0, says=says, exercise="migration", among=among)


NEVER_GOES = RULE.replace("metadata:\n", "metadata:\n  finalizers: [example.com/never]\n", 1)

ATTACKS = (
    objects("yaml-bomb", "shows-and-kills", BOMB, 0),
    objects("not-the-value-it-says", NAMED_HTML, f"x: !!int x\n---\n{RULE}", 0, "not YAML", exercise="rule"),
    objects("leads-up-the-path", NAMED_HTML, OPERATOR + UP_THE_PATH, 0, "is no name"),
    objects("policy-for-the-judge", "fills-and-skips", OPERATOR + WEBHOOK + POLICY, 0, "is not made by a check"),
    objects("binds-itself", "forges", OPERATOR + FOR_ITSELF, 4),
    objects("binds-everybody", "stays", OPERATOR + FOR_ALL, 7),
    objects("never-goes", "stays", NEVER_GOES, 8, exercise="rule"),
    Attack(
        "html-and-escapes",
        {"answers/rule.yaml": _messages()},
        2,
        ("no-answer-line",),
        ("ValueError", "<script>alert("),
        cell=SHOWS,
        among="shows-and-kills",
    ),
    commands(
        "deletes-the-namespace",
        "objects",
        "kubectl delete namespace ch54\nkubectl delete colis --all",
        "not the exercise",
    ),
    commands("deletes-the-definition", "forges", "kubectl delete crd colis.cours.example.com"),
)
