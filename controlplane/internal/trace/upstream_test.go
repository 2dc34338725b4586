package trace

import (
	"context"
	"slices"
	"testing"

	upstreamconversion "k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"labkit.example/controlplane/internal/definition"
	"labkit.example/controlplane/internal/handler"
)

// upstream judges as the server does: with its own strategy, in one piece. It gives the lines and the warnings, and changes u.
func upstream(t *testing.T, s *definition.Serving, version string, u, old *unstructured.Unstructured) (lines, warnings []string) {
	t.Helper()
	v := s.Versions[version]
	strategy := customresource.NewStrategy(crdserverscheme.NewUnstructuredObjectTyper(), s.Namespaced, s.GVK(version), v.SchemaValidator, nil,
		v.Structural, v.Status, v.Scale, nil)
	var warned handler.Warnings
	ctx := warned.In(genericapirequest.WithNamespace(context.Background(), u.GetNamespace()))
	var err error
	if old == nil {
		err = rest.BeforeCreate(strategy, ctx, u)
	} else {
		err = rest.BeforeUpdate(strategy, ctx, u, old)
	}
	if err != nil {
		lines = handler.Refuse(err).Lines
	}
	return lines, warned.Texts()
}

// begun takes the steps of a write before the strategy's.
func begun(t *testing.T, s *definition.Serving, r Request) *path {
	t.Helper()
	p, err := newPath(s, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.walk(writeSteps[:slices.IndexFunc(writeSteps, func(s step) bool { return s.name == preparing })]); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestThePiecesOfTheStrategyMakeUpTheServersOwn(t *testing.T) {
	s := things(t)
	for _, write := range writes {
		t.Run(write.name, func(t *testing.T) {
			r := Request{Object: write.object, FieldValidation: metav1.FieldValidationIgnore}
			if write.old != "" {
				r.Old = &write.old
			}
			p := begun(t, s, r)
			before := slices.Clone(p.warnings.Texts())
			u := p.object.DeepCopy()
			var old *unstructured.Unstructured
			if p.old != nil {
				old = p.old.DeepCopy()
			}
			lines, warnings := upstream(t, s, "v1", u, old)

			got := follow(t, s, r)
			if !slices.Equal(got.Lines, append([]string{}, lines...)) {
				t.Errorf("lines:\n got %q\nwant %q", got.Lines, lines)
			}
			slices.Sort(warnings)
			gotWarnings := slices.Sorted(slices.Values(got.Warnings))
			if want := slices.Sorted(slices.Values(append(before, warnings...))); !slices.Equal(gotWarnings, want) {
				t.Errorf("warnings:\n got %q\nwant %q", gotWarnings, want)
			}
			if lines == nil {
				u.SetResourceVersion("")
				stored, err := decodeStored([]byte(mustJSON(t, p.show(u))))
				if err != nil {
					t.Fatal(err)
				}
				same(t, "stored", got.Stored, mustJSON(t, stored.Object))
			}
		})
	}
}

func TestConversionIsTheServersOwn(t *testing.T) {
	s := things(t)
	factory, err := upstreamconversion.NewCRConverterFactory(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	converter, _, err := factory.NewConverter(s.CRD)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to string }{
		{"t.example.com/v1", "v2"}, {"t.example.com/v2", "v1"}, {"t.example.com/v1", "v1"}, {"t.example.com/v3", "v1"}, {"t.example.com/v1", "v3"},
		{"other.example.com/v1", "v1"},
	} {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": c.from, "kind": "Thing", "spec": map[string]any{"x": int64(1)}}}
		want, wantErr := converter.ConvertToVersion(u, schema.GroupVersion{Group: "t.example.com", Version: c.to})
		got, err := convert(s, u, c.to)
		switch {
		case (err == nil) != (wantErr == nil):
			t.Errorf("%v: got %v, want %v", c, err, wantErr)
		case err != nil:
			if err.Error() != wantErr.Error() {
				t.Errorf("%v: got %v, want %v", c, err, wantErr)
			}
		default:
			same(t, c.from+" to "+c.to, got.Object, mustJSON(t, want.(*unstructured.Unstructured).Object))
		}
	}
}
