package trace

import (
	"maps"
	"reflect"
	"regexp"
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

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// child writes a name that would be misread as a path in brackets.
func child(path *field.Path, name string) *field.Path {
	if path == nil || plainName.MatchString(name) {
		return path.Child(name)
	}
	return path.Key(name)
}

// text gives "" for the root, where field.Path says "<nil>".
func text(path *field.Path) string {
	if path == nil {
		return ""
	}
	return path.String()
}
