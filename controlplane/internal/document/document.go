// Package document finds the one document in a text that a person wrote, in the form in which a client would send it.
package document

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Document is the body of a request.
type Document struct {
	Data []byte
	// YAML tells the media type: application/yaml, or application/json.
	YAML bool
}

// One gives the only document of text. JSON is what begins with "{"; anything else is YAML, whose empty documents do not count.
func One(text string) (Document, error) {
	if trimmed := bytes.TrimSpace([]byte(text)); len(trimmed) > 0 && trimmed[0] == '{' {
		return Document{Data: trimmed}, nil
	}
	var found [][]byte
	parts := 0
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader([]byte(text))))
	for {
		part, err := reader.Read()
		if !isEmpty(part) {
			found = append(found, part)
		}
		if len(part) > 0 {
			parts++
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Document{}, err
		}
	}
	switch len(found) {
	case 0:
		return Document{}, errors.New("the text holds no document")
	case 1:
		if parts == 1 {
			return Document{Data: []byte(text), YAML: true}, nil // byte for byte: the server's errors may show it
		}
		return Document{Data: found[0], YAML: true}, nil
	}
	return Document{}, fmt.Errorf("the text holds %d documents, one is wanted", len(found))
}

// JSON gives the document as JSON, the way the server's decoder of YAML does.
func (d Document) JSON() ([]byte, error) {
	if !d.YAML {
		return d.Data, nil
	}
	return yaml.YAMLToJSON(d.Data)
}

// IsPlain tells whether a document in JSON is a list, a text or a number, of which decoders of objects complain by their own types.
func IsPlain(body []byte) bool {
	body = bytes.TrimSpace(body)
	return len(body) > 0 && body[0] != '{' && !bytes.Equal(body, []byte("null"))
}

// isEmpty tells whether only comments, directives and marks are there.
func isEmpty(part []byte) bool {
	for line := range bytes.Lines(part) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && line[0] != '%' && !bytes.Equal(line, []byte("---")) && !bytes.Equal(line, []byte("...")) {
			return false
		}
	}
	return true
}
