package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestTraceEndsWithItsInput(t *testing.T) {
	for name, c := range map[string]struct {
		args  []string
		input string
		code  int
		lines int
	}{
		"nothing asked":         {nil, "", 0, 0},
		"an error is an answer": {nil, "hello\n" + `{"id":1,"do":"define","definition":""}`, 0, 2},
		"once":                  {[]string{"--once"}, "hello\nhello\n", 1, 1},
		"once, nothing asked":   {[]string{"--once"}, "", 0, 0},
		"no such flag":          {[]string{"--twice"}, "", 2, 0},
		"no such argument":      {[]string{"file"}, "", 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(append([]string{"trace"}, c.args...), strings.NewReader(c.input), &stdout, &stderr)
			if code != c.code || strings.Count(stdout.String(), "\n") != c.lines || (stderr.Len() > 0) != (code == 2) {
				t.Errorf("exit code %d, %q, %q", code, stdout.String(), stderr.String())
			}
		})
	}
}

const aDefinition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"as.t.example.com"},"spec":{` +
	`"group":"t.example.com","scope":"Cluster","names":{"kind":"A","plural":"as"},"versions":[{"name":"v1","served":true,"storage":true,` +
	`"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`

func TestStagesAreLeftOutOnlyIfTheProcessAllowsIt(t *testing.T) {
	request := `{"do":"trace","without":["pruning"],"definition":` + quote(aDefinition) + `,"object":"apiVersion: t.example.com/v1\nkind: A\nmetadata: {name: a}\nu: 1\n"}`
	for code, args := range [][]string{{"trace", "--once", "--allow-without"}, {"trace", "--once"}} {
		var stdout, stderr bytes.Buffer
		if got := run(args, strings.NewReader(request), &stdout, &stderr); got != code || strings.Contains(stdout.String(), `"stored":{"apiVersion":"t.example.com/v1"`) != (code == 0) {
			t.Errorf("%q: exit code %d, %s", args, got, stdout.String())
		}
	}
}

func quote(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"` }
