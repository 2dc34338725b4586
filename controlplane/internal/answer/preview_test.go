package answer

import (
	"fmt"
	"strings"
	"testing"
)

func TestManyObjectsAreAnsweredInTheirOrder(t *testing.T) {
	a := New()
	var objects []any
	for i := range 50 {
		objects = append(objects, strings.ReplaceAll(chapter(t, "objects/mini.yaml"), "name: mini", fmt.Sprintf("name: mini-%d", i)))
	}
	objects[7] = "a: b"
	got := ask(t, a, map[string]any{"do": "preview", "definition": chapter(t, "05-colis-v1.yaml"), "objects": objects})
	if got.Result["version"] != "v1" {
		t.Fatalf("got %v, %v", got.Result["version"], got.Error)
	}
	for i, each := range got.Result["objects"].([]any) {
		forecast := each.(map[string]any)
		if failure, _ := forecast["error"].(map[string]any); i == 7 {
			if failure["kind"] != "object" || len(forecast) != 1 {
				t.Errorf("%d: %v", i, forecast)
			}
		} else if forecast["name"] != fmt.Sprintf("mini-%d", i) || failure != nil {
			t.Errorf("%d: %v", i, forecast)
		}
	}
}

func TestAPreviewNeedsADefinitionThatServesTheVersion(t *testing.T) {
	a := New()
	for kind, r := range map[string]map[string]any{
		"request":    {"definition": chapter(t, "05-colis-v1.yaml"), "readVersion": "v9"},
		"definition": {"definition": strings.Replace(chapter(t, "05-colis-v1.yaml"), "storage: true", "storage: false", 1)},
	} {
		r["do"], r["objects"] = "preview", []any{}
		if got := ask(t, a, r); got.Error == nil || got.Error.Kind != kind {
			t.Errorf("%s: got %v, %v", kind, got.Result, got.Error)
		}
	}
}
