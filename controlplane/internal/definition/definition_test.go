package definition

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

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

// upstream gives what the server's own strategy says.
func upstream(t *testing.T, text, old string) (lines, warnings []string) {
	t.Helper()
	crd, _, err := decode(text, metav1.FieldValidationIgnore)
	if err != nil {
		t.Fatal(err)
	}
	var warned handler.Warnings
	ctx := warned.In(genericapirequest.WithNamespace(context.Background(), ""))
	own := customresourcedefinition.NewStrategy(scheme)
	if old == "" {
		rest.FillObjectMetaSystemFields(crd)
		err = rest.BeforeCreate(own, ctx, crd)
	} else {
		live, liveErr := Live(old)
		if liveErr != nil {
			t.Fatal(liveErr)
		}
		crd.ResourceVersion = live.ResourceVersion
		err = rest.BeforeUpdate(own, ctx, crd, live)
	}
	if err != nil {
		lines = handler.Refuse(err).Lines
	}
	return lines, warned.Texts()
}

func TestTheStrategyIsTheServersOwn(t *testing.T) {
	odd := strings.Replace(file(t, "02-colis-schema.yaml"), "                version:\n", "                f: {type: string, format: strange}\n"+
		"                l: {type: array, x-kubernetes-list-type: set, items: {type: array, items: {type: string}, x-kubernetes-list-type: atomic}}\n"+
		"                version:\n", 1)
	texts := []string{"", odd}
	for _, name := range []string{"01-colis-minimal", "02-colis-schema", "03-a-default-vide", "04-colis-complet", "05-colis-v1", "06-colis-v1-seul"} {
		texts = append(texts, file(t, name+".yaml"))
	}
	warned := 0
	for _, old := range texts {
		for _, text := range texts[1:] {
			var d *Definition
			var err error
			if old == "" {
				d, err = Create(text, metav1.FieldValidationIgnore)
			} else {
				d, err = Update(text, old, metav1.FieldValidationIgnore)
			}
			if err != nil {
				t.Fatal(err)
			}
			wantLines, wantWarnings := upstream(t, text, old)
			if !slices.Equal(lines(t, d), wantLines) || !slices.Equal(d.Warnings(), wantWarnings) {
				t.Errorf("got %q, %q\nwant %q, %q", lines(t, d), d.Warnings(), wantLines, wantWarnings)
			}
			warned += len(wantWarnings)
		}
	}
	if warned == 0 {
		t.Error("nothing was warned of")
	}
}

func TestACacheForgetsTheOldest(t *testing.T) {
	c := NewCache(2)
	get := func(name string) *Definition {
		d, err := c.Get(file(t, name), nil, metav1.FieldValidationStrict)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	first := get("01-colis-minimal.yaml")
	get("02-colis-schema.yaml")
	if get("01-colis-minimal.yaml") != first {
		t.Error("it was made twice")
	}
	get("04-colis-complet.yaml")
	get("05-colis-v1.yaml")
	if get("01-colis-minimal.yaml") == first {
		t.Error("it was kept beyond the size")
	}
}
