package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// parse reads a request. Its id is there as soon as the line is JSON, whatever else is wrong.
func parse(line []byte) (*request, error) {
	bad := func(format string, args ...any) error { return &fault{"request", fmt.Errorf(format, args...)} }
	if !utf8.Valid(line) {
		return nil, bad("the request is not valid UTF-8")
	}
	var known struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(line, &known); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			return nil, bad("the request is JSON, but no object")
		}
		return nil, bad("the request is not JSON: %v", err)
	}
	r := &request{}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(r); err != nil {
		return &request{ID: known.ID}, bad("the request cannot be understood: %v", err)
	}
	if hasLoneSurrogate(line) {
		return r, bad(`the request holds half of a surrogate pair (\ud800 to \udfff), which is no character`)
	}
	if methods[r.Do] == nil {
		return r, bad("do is %q, none of %s", r.Do, strings.Join(slices.Sorted(maps.Keys(methods)), ", "))
	}
	return r, nil
}

// hasLoneSurrogate looks for \uD800 to \uDFFF without its other half, which encoding/json replaces silently.
func hasLoneSurrogate(line []byte) bool {
	for i := 0; i < len(line); i++ {
		if line[i] != '\\' {
			continue
		}
		i++ // whatever is escaped
		first, ok := escaped(line[i:])
		if !ok || !utf16.IsSurrogate(first) {
			continue
		}
		second, ok := rune(0), false
		if rest := line[i+5:]; len(rest) > 1 && rest[0] == '\\' {
			second, ok = escaped(rest[1:])
		}
		if !ok || utf16.DecodeRune(first, second) == utf8.RuneError {
			return true
		}
		i += 4 + 6
	}
	return false
}

// escaped reads the u1234 of an escape.
func escaped(text []byte) (rune, bool) {
	if len(text) < 5 || text[0] != 'u' {
		return 0, false
	}
	value, err := strconv.ParseUint(string(text[1:5]), 16, 16)
	return rune(value), err == nil
}
