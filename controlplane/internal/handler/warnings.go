package handler

import (
	"context"
	"slices"
	"unicode/utf8"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/warning"
)

// Warnings collects what a request is warned of.
type Warnings struct{ texts []string }

// In gives a context in which the server's functions find the collector.
func (w *Warnings) In(ctx context.Context) context.Context {
	return warning.WithWarningRecorder(ctx, w)
}

// AddWarning keeps each text once, and none that no header can carry.
func (w *Warnings) AddWarning(agent, text string) {
	if text == "" || slices.Contains(w.texts, text) {
		return
	}
	if _, err := utilnet.NewWarningHeader(299, agent, text); err == nil {
		w.texts = append(w.texts, text)
	}
}

// Add is AddWarning for several.
func (w *Warnings) Add(texts ...string) {
	for _, text := range texts {
		w.AddWarning("", text)
	}
}

// Texts gives the texts of the Warning headers: all of them up to 4096 runes; cut to 256 runes each, as far as 4096 go, if they
// are longer together. staging/src/k8s.io/apiserver/pkg/endpoints/filters/warning.go: recorder.AddWarning
func (w *Warnings) Texts() []string {
	const atMost, each = 4 * 1024, 256
	total := 0
	for _, text := range w.texts {
		total += utf8.RuneCountInString(text)
	}
	if total <= atMost {
		return append([]string{}, w.texts...)
	}
	var cut []string
	written := 0
	for _, text := range w.texts {
		if written >= atMost {
			break
		}
		if utf8.RuneCountInString(text) > each {
			text = string([]rune(text)[:each])
		}
		written += utf8.RuneCountInString(text)
		cut = append(cut, text)
	}
	return cut
}
