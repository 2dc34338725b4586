package trace

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// gained gives what after holds and before does not, or holds otherwise, outermost first, sorted by path.
func gained(before, after any) []Added {
	found := []Added{}
	gain(nil, before, after, &found)
	return found
}

func gain(path *field.Path, before, after any, found *[]Added) {
	switch after := after.(type) {
	case map[string]any:
		if before, ok := before.(map[string]any); ok {
			for _, key := range slices.Sorted(maps.Keys(after)) {
				if old, known := before[key]; known {
					gain(child(path, key), old, after[key], found)
				} else {
					*found = append(*found, Added{Path: text(child(path, key)), Value: after[key]})
				}
			}
			return
		}
	case []any:
		if before, ok := before.([]any); ok && len(before) == len(after) {
			for i := range after {
				gain(path.Index(i), before[i], after[i], found)
			}
			return
		}
	}
	if !reflect.DeepEqual(before, after) {
		*found = append(*found, Added{Path: text(path), Value: after})
	}
}

// lost gives the paths of what before holds and after does not, outermost first, sorted.
func lost(before, after any) []string {
	paths := []string{}
	for _, gone := range gained(after, before) {
		paths = append(paths, gone.Path)
	}
	return paths
}

// child writes a name that would be misread as a path in brackets.
func child(path *field.Path, name string) *field.Path {
	if path == nil || isPlain(name) {
		return path.Child(name)
	}
	return path.Key(name)
}

// isPlain tells whether a name is letters, digits, _ and -, and begins with a letter or _. It is asked for every field.
func isPlain(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != ""
}

// text gives "" for the root, where field.Path says "<nil>".
func text(path *field.Path) string {
	if path == nil {
		return ""
	}
	return path.String()
}
