package definition

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"labkit.example/controlplane/internal/handler"
)

func file(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "crd", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func lines(t *testing.T, d *Definition) []string {
	t.Helper()
	if d.Refusal == nil {
		return nil
	}
	return d.Refusal.Lines
}

func TestDefinitionsOfTheChapterAreAcceptedOrRefusedAsTheServerDoes(t *testing.T) {
	const (
		schema = "spec.validation.openAPIV3Schema.properties[spec]."
		total  = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
		factor = "exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength " +
			"where arrays, maps, and strings are declared)"
		entire = "spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema " + factor
	)
	for name, want := range map[string][]string{
		"01-colis-minimal.yaml": nil,
		"02-colis-schema.yaml":  nil,
		"03-a-default-vide.yaml": {
			schema + `properties[worker].default: Invalid value: "object": no such key: min evaluating rule: self.min <= self.max`},
		"03-b-default-complet.yaml": nil,
		"03-c-regle-tolerante.yaml": nil,
		"03-d-message-string.yaml": {
			schema + "properties[worker].x-kubernetes-validations[0].messageExpression: Forbidden: " + total,
			schema + "properties[worker].x-kubernetes-validations[0].messageExpression: Forbidden: estimated messageExpression cost " + factor,
			entire,
		},
		"03-e-liste-bornee.yaml": nil,
		"03-e-liste-sans-borne.yaml": {
			schema + "properties[fenetres].x-kubernetes-validations[0].rule: Forbidden: " + total,
			schema + "properties[fenetres].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost " + factor,
			entire,
		},
		"04-colis-complet.yaml": nil,
		"05-colis-v1.yaml":      nil,
		"05-colis-v1-selectable-partout.yaml": {
			`spec.selectableFields: Invalid value: "": may only be set when validations.schema is included`},
		"06-colis-v1-seul.yaml": nil,
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Create(file(t, name), metav1.FieldValidationStrict)
			if err != nil {
				t.Fatal(err)
			}
			if got := lines(t, d); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			if _, err := d.Serve(); (err == nil) != (want == nil) {
				t.Errorf("Serve: %v", err)
			}
		})
	}
}

func TestADroppedStoredVersionIsRefusedWhereTheOldDefinitionStoredIt(t *testing.T) {
	d, err := Update(file(t, "06-colis-v1-seul.yaml"), file(t, "05-colis-v1.yaml"), metav1.FieldValidationStrict)
	if err != nil {
		t.Fatal(err)
	}
	if d.Refusal != nil {
		t.Errorf("v1 only was stored: %q", d.Refusal.Lines)
	}
	d, err = Update(file(t, "06-colis-v1-seul.yaml"), file(t, "04-colis-complet.yaml"), metav1.FieldValidationStrict)
	if err != nil {
		t.Fatal(err)
	}
	want := "status.storedVersions[0]: Invalid value: \"v1alpha1\": missing from spec.versions; v1alpha1 was previously a storage version, " +
		"and must remain in spec.versions until a storage migration ensures no data remains persisted in v1alpha1 and removes v1alpha1 from status.storedVersions"
	if got := lines(t, d); !slices.Equal(got, []string{want}) {
		t.Errorf("got %q", got)
	}
}

func TestUnknownFieldsOfADefinitionFollowFieldValidation(t *testing.T) {
	text := strings.Replace(file(t, "01-colis-minimal.yaml"), "spec:\n", "spec:\n  foo: 1\n", 1)
	_, err := Create(text, metav1.FieldValidationStrict)
	var refusal *handler.Refusal
	if !errors.As(err, &refusal) || refusal.Status.Code != 400 ||
		refusal.Lines[0] != `CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: strict decoding error: unknown field "spec.foo"` {
		t.Errorf("Strict: %v", err)
	}
	d, err := Create(text, metav1.FieldValidationWarn)
	if err != nil || !slices.Equal(d.Warnings(), []string{`unknown field "spec.foo"`}) {
		t.Errorf("Warn: %v, %v", d, err)
	}
	if d, err = Create(text, metav1.FieldValidationIgnore); err != nil || len(d.Warnings()) > 0 {
		t.Errorf("Ignore: %v, %v", d, err)
	}
}
