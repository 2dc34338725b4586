package handler

import (
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestARefusalIsTheServersStatusWithItsErrorsSorted(t *testing.T) {
	kind, path := schema.GroupKind{Group: "g", Kind: "K"}, field.NewPath("spec")
	errs := field.ErrorList{field.Required(path.Child("b"), ""), field.Invalid(path.Child("a"), 1, "bad"), field.Required(path.Child("b"), "")}
	got := Refuse(apierrors.NewInvalid(kind, "n", errs))
	if want := []string{"spec.a: Invalid value: 1: bad", "spec.b: Required value"}; !slices.Equal(got.Lines, want) || !slices.Equal(Lines(errs), want) {
		t.Errorf("got %q, %q", got.Lines, Lines(errs))
	}
	want := apierrors.NewInvalid(kind, "n", field.ErrorList{errs[1], errs[0], errs[2]}).Status()
	if got.Status.Message != want.Message || got.Status.Details.Causes[0] != want.Details.Causes[0] || got.Status.Code != 422 {
		t.Errorf("got %+v, want %+v", got.Status, want)
	}
	if again := Refuse(got); again != got {
		t.Error("a refusal is refused anew")
	}
	if got = Refuse(errors.New("x")); got.Status.Code != 500 || !slices.Equal(got.Lines, []string{"x"}) {
		t.Errorf("got %+v", got.Status)
	}
}

func TestStrictErrorsBecomeWarningsWhereOnlyAWarningIsWanted(t *testing.T) {
	strict := runtime.NewStrictDecodingError([]error{
		errors.New("yaml: unmarshal errors:\n  line 4: key \"i\" already set in map\n  line 5: key \"j\" already set in map"), errors.New(`unknown field "z"`)})
	got, err := AfterDecoding(strict, true, metav1.FieldValidationWarn, "K", nil, nil)
	if want := []string{`line 4: key "i" already set in map`, `line 5: key "j" already set in map`, `unknown field "z"`}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err = AfterDecoding(strict, true, metav1.FieldValidationStrict, "K", &schema.GroupVersionKind{Version: "v", Kind: "L"}, nil); err == nil ||
		!strings.HasPrefix(err.Error(), `L in version "v" cannot be handled as a K: strict decoding error: yaml`) {
		t.Errorf("got %v", err)
	}
}

func TestWarningsAreCutWhereTheServerCutsThem(t *testing.T) {
	var w Warnings
	w.Add("a", "a", "", "b")
	if got := w.Texts(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q", got)
	}
	for i := range 20 {
		w.Add(strings.Repeat(string(rune('a'+i)), 300))
	}
	total := 0
	for _, text := range w.Texts() {
		total += len(text)
		if len(text) > 256 {
			t.Errorf("%d characters", len(text))
		}
	}
	if total < 4096 || total > 4096+256 {
		t.Errorf("%d characters in all", total)
	}
}

func TestOwnersThatAreThereTwiceAreDropped(t *testing.T) {
	owner, other := metav1.OwnerReference{Name: "o", UID: "u"}, metav1.OwnerReference{Name: "p", UID: "u"}
	object := &metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{owner, other, owner}}
	if text := DropDuplicateOwners(object); !strings.HasSuffix(text, "duplicate UID(s) observed: u") || !slices.Equal(object.OwnerReferences, []metav1.OwnerReference{owner, other}) {
		t.Errorf("got %q, %v", text, object.OwnerReferences)
	}
	if text := DropDuplicateOwners(object); text != "" {
		t.Errorf("got %q", text)
	}
}
