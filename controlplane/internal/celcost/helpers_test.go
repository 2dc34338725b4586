package celcost

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// definitionOf reads a definition as the server does: decoded, defaulted, converted; with what validation says of it.
func definitionOf(t testing.TB, text string) (*apiextensions.CustomResourceDefinition, []string) {
	t.Helper()
	scheme := runtime.NewScheme()
	install.Install(scheme)
	decoder := serializer.NewCodecFactory(scheme).UniversalDecoder(apiextensions.SchemeGroupVersion)
	object, _, err := decoder.Decode([]byte(text), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	definition := object.(*apiextensions.CustomResourceDefinition)
	return definition, refused(definition)
}

func refused(definition *apiextensions.CustomResourceDefinition) []string {
	var lines []string
	for _, err := range validation.ValidateCustomResourceDefinition(context.Background(), definition) {
		lines = append(lines, err.Error())
	}
	return lines
}

// withSpec is a definition whose objects have a spec of that schema, in JSON.
func withSpec(spec string) string {
	const head = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": {"name": "things.cost.example.com"},
		"spec": {"group": "cost.example.com", "scope": "Namespaced", "names": {"kind": "Thing", "plural": "things"},
		"versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object",
		"properties": {"spec": %s}}}}]}}`
	return fmt.Sprintf(head, spec)
}

func rule(text string) string { return fmt.Sprintf(`"x-kubernetes-validations": [{"rule": %q}]`, text) }

func message(text string) string {
	return fmt.Sprintf(`"x-kubernetes-validations": [{"rule": "true", "messageExpression": %q}]`, text)
}

func estimated(t testing.TB, text string) *Result {
	t.Helper()
	definition, lines := definitionOf(t, text)
	result, err := Estimate(definition, lines)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// costliest is the expression with the greatest estimate.
func (r *Result) costliest() *Expression {
	var found *Expression
	for _, e := range r.Expressions {
		if found == nil || e.EstimatedCost != nil && *e.EstimatedCost > *found.EstimatedCost {
			found = e
		}
	}
	return found
}

// follow sets an advice's bounds in the definition, each changed by so much.
func follow(definition *apiextensions.CustomResourceDefinition, all []Bound, more map[string]int64) {
	for _, one := range schemasOf(definition) {
		root := one.root
		rootPlace(root, one.path).walk(func(p *place) {
			for _, b := range all {
				if b.Path == p.path.String() {
					found := candidateAt(one.root, one.path, p.steps)
					root = found.with(root, b.Value+more[b.Path])
				}
			}
		})
		*one.root = *root
	}
}

func contains(lines []string, part string) bool {
	return strings.Contains(strings.Join(lines, "\n"), part)
}
