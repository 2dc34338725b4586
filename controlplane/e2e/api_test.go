//go:build unix

package e2e

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	certutil "k8s.io/client-go/util/cert"
)

// object is JSON of the API.
type object = map[string]any

// api talks plain HTTP to the server with what the kubeconfig holds.
type api struct {
	url    string
	client *http.Client
}

func (p *process) api(t *testing.T) api {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if config.Insecure || len(config.CAData) == 0 || len(config.CertData) == 0 || config.BearerToken != "" {
		t.Error("the kubeconfig does not verify the server, or does not hold a client certificate")
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return api{config.Host, client}
}

// stranger knows the authority and has no certificate.
func (p *process) stranger(t *testing.T, ca string) *http.Client {
	t.Helper()
	roots, err := certutil.NewPool(ca)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// do sends a request and gives the answer's JSON; an answer that is no success is an error.
func (a api) do(method, path, contentType string, body any) (object, error) {
	content, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(method, a.url+path, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", contentType)
	response, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if content, err = io.ReadAll(response.Body); err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, response.Status, content)
	}
	var answer object
	if err := json.Unmarshal(content, &answer); err != nil {
		return nil, fmt.Errorf("%s %s: %q: %w", method, path, content, err)
	}
	return answer, nil
}

func (a api) get(path string) (object, error) { return a.do(http.MethodGet, path, "", nil) }

func (a api) create(t *testing.T, path string, o object) object {
	t.Helper()
	created, err := a.do(http.MethodPost, path, "application/json", o)
	if err != nil {
		t.Fatal(err)
	}
	return created
}

func (a api) patch(t *testing.T, path string, change object) {
	t.Helper()
	if _, err := a.do(http.MethodPatch, path, "application/merge-patch+json", change); err != nil {
		t.Fatal(err)
	}
}

func (a api) delete(t *testing.T, path string) {
	t.Helper()
	if _, err := a.do(http.MethodDelete, path, "", nil); err != nil {
		t.Fatal(err)
	}
}

// absent is nil when nothing is there.
func (a api) absent(path string) error {
	response, err := a.client.Get(a.url + path)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNotFound {
		return errors.New(path + " is there")
	}
	return nil
}

// at follows names and indexes into JSON; nil where there is nothing.
func at(value any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			fields, _ := value.(object)
			value = fields[step]
		case int:
			items, _ := value.([]any)
			if step >= len(items) {
				return nil
			}
			value = items[step]
		}
	}
	return value
}

// stored reads a key of etcd through its HTTP gateway.
func (p *process) stored(t *testing.T, key string) []byte {
	t.Helper()
	client := p.stranger(t, p.Etcd.CA)
	cert, err := tls.LoadX509KeyPair(p.Etcd.Cert, p.Etcd.Key)
	if err != nil {
		t.Fatal(err)
	}
	client.Transport.(*http.Transport).TLSClientConfig.Certificates = []tls.Certificate{cert}
	answer, err := api{p.Etcd.URL, client}.do(http.MethodPost, "/v3/kv/range", "application/json", object{"key": []byte(key)})
	if err != nil {
		t.Fatal(err)
	}
	value, _ := at(answer, "kvs", 0, "value").(string)
	content, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
