package fault

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestLineIsOneLineHoweverDeepTheErrorIs(t *testing.T) {
	err := errors.Join(fmt.Errorf("while starting: %w", New("port taken", errors.New("listen\n  on 80"), "take another")), io.EOF)
	if got, want := Line(err, "failed", "report"), "port taken: listen on 80; take another"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLineWrapsAnErrorThatIsNotKnown(t *testing.T) {
	if got, want := Line(io.EOF, "failed", "report"), "failed: EOF; report"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestErrorKeepsItsEvidence(t *testing.T) {
	if !errors.Is(New("a", io.EOF, "b"), io.EOF) {
		t.Error("the evidence cannot be found")
	}
}
