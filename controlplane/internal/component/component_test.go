package component

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// fake is a component whose life the test holds in its hands.
type fake struct {
	ready chan struct{}
	err   chan error
	stop  func(context.Context) error
}

func (f *fake) Ready() <-chan struct{}         { return f.ready }
func (f *fake) Err() <-chan error              { return f.err }
func (f *fake) Stop(ctx context.Context) error { return f.stop(ctx) }

// early serves at once and is ready when the test says so.
type early struct{ *fake }

func (early) Serving() <-chan struct{} { return closed() }

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// stage starts fakes and writes down what happens.
type stage struct {
	events []string
	fakes  map[string]*fake
}

func newStage() *stage { return &stage{fakes: map[string]*fake{}} }

func (s *stage) start(name string, ready chan struct{}) Start {
	f := &fake{ready: ready, err: make(chan error, 1)}
	f.stop = func(context.Context) error {
		s.events = append(s.events, "stop "+name)
		return nil
	}
	s.fakes[name] = f
	return Start{Name: name, ReadyWithin: 10 * time.Second, StopWithin: time.Second, Begin: func(context.Context) (Handle, error) {
		s.events = append(s.events, "begin "+name)
		return f, nil
	}}
}

func (s *stage) late(name string, err error) { s.events = append(s.events, "late "+name) }

func (s *stage) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(s.events, want) {
		t.Errorf("got %q, want %q", s.events, want)
	}
}

func TestStartsInOrderAndStopsInReverse(t *testing.T) {
	s := newStage()
	ctx, cancel := context.WithCancel(t.Context())
	err := Run(ctx, []Start{s.start("a", closed()), s.start("b", closed())}, func() error {
		s.events = append(s.events, "ready")
		cancel()
		return nil
	}, s.late)
	if err != nil {
		t.Errorf("an ordered stop gave %v", err)
	}
	s.expect(t, "begin a", "begin b", "ready", "stop b", "stop a")
}

func TestNextOneWaitsUntilTheOneBeforeIsReady(t *testing.T) {
	s := newStage()
	ready := make(chan struct{})
	a, b := s.start("a", ready), s.start("b", closed())
	begin := a.Begin
	a.Begin = func(ctx context.Context) (Handle, error) {
		time.AfterFunc(10*time.Millisecond, func() {
			s.events = append(s.events, "a is ready")
			close(ready)
		})
		return begin(ctx)
	}
	stop := errors.New("stop")
	err := Run(t.Context(), []Start{a, b}, func() error { return stop }, s.late)
	if err != stop {
		t.Errorf("got %v", err)
	}
	s.expect(t, "begin a", "a is ready", "begin b", "stop b", "stop a")
}

func TestOneThatServesEarlyLetsTheNextBeginButHoldsTheWholeBack(t *testing.T) {
	s := newStage()
	ready := make(chan struct{})
	a, b := s.start("a", ready), s.start("b", closed())
	a.Begin = func(context.Context) (Handle, error) {
		s.events = append(s.events, "begin a")
		return early{s.fakes["a"]}, nil
	}
	begin := b.Begin
	b.Begin = func(ctx context.Context) (Handle, error) {
		time.AfterFunc(10*time.Millisecond, func() {
			s.events = append(s.events, "a is ready")
			close(ready)
		})
		return begin(ctx)
	}
	_ = Run(t.Context(), []Start{a, b}, func() error {
		s.events = append(s.events, "ready")
		return errors.New("enough")
	}, s.late)
	s.expect(t, "begin a", "begin b", "a is ready", "ready", "stop b", "stop a")
}

func TestFirstFailureStopsAllAndIsTheResult(t *testing.T) {
	s := newStage()
	cause := errors.New("disk full")
	err := Run(t.Context(), []Start{s.start("a", closed()), s.start("b", closed())}, func() error {
		s.fakes["a"].err <- cause
		return nil
	}, s.late)
	var failure *Failure
	if !errors.As(err, &failure) || failure.Component != "a" || !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	s.expect(t, "begin a", "begin b", "stop b", "stop a")
}

func TestFailureWhileTheNextOneStartsIsNoticed(t *testing.T) {
	s := newStage()
	a, b := s.start("a", closed()), s.start("b", make(chan struct{}))
	b.Begin = func(context.Context) (Handle, error) {
		s.fakes["a"].err <- errors.New("gone")
		return s.fakes["b"], nil
	}
	err := Run(t.Context(), []Start{a, b}, func() error { return nil }, s.late)
	if err == nil || err.Error() != "a failed: gone" {
		t.Errorf("got %v", err)
	}
}

func TestOneThatEndsWithoutAnErrorHasFailed(t *testing.T) {
	s := newStage()
	err := Run(t.Context(), []Start{s.start("a", closed())}, func() error {
		close(s.fakes["a"].err)
		return nil
	}, s.late)
	if err == nil || !strings.Contains(err.Error(), "without having been asked") {
		t.Errorf("got %v", err)
	}
}

func TestOneThatCannotBeginStopsTheOthers(t *testing.T) {
	s := newStage()
	b := s.start("b", closed())
	b.Begin = func(context.Context) (Handle, error) { return nil, errors.New("no") }
	err := Run(t.Context(), []Start{s.start("a", closed()), b}, func() error { return nil }, s.late)
	if err == nil || err.Error() != "b failed: no" {
		t.Errorf("got %v", err)
	}
	s.expect(t, "begin a", "stop a")
}

func TestEndWhileStartingIsAnOrderlyStop(t *testing.T) {
	s := newStage()
	ctx, cancel := context.WithCancel(t.Context())
	a := s.start("a", make(chan struct{}))
	begin := a.Begin
	a.Begin = func(ctx context.Context) (Handle, error) {
		cancel()
		return begin(ctx)
	}
	if err := Run(ctx, []Start{a, s.start("b", closed())}, func() error { return nil }, s.late); err != nil {
		t.Errorf("got %v", err)
	}
	s.expect(t, "begin a", "stop a")
}

func TestOneThatDoesNotStopHoldsTheOthersOnlyForItsLimit(t *testing.T) {
	s := newStage()
	ctx, cancel := context.WithCancel(t.Context())
	b := s.start("b", closed())
	b.StopWithin = 10 * time.Millisecond
	s.fakes["b"].stop = func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	if err := Run(ctx, []Start{s.start("a", closed()), b}, func() error { cancel(); return nil }, s.late); err != nil {
		t.Errorf("got %v", err)
	}
	s.expect(t, "begin a", "begin b", "late b", "stop a")
}

func TestOneThatIsNeverReadyHasFailed(t *testing.T) {
	s := newStage()
	b := s.start("b", make(chan struct{}))
	b.ReadyWithin = 10 * time.Millisecond
	err := Run(t.Context(), []Start{s.start("a", closed()), b}, func() error { return nil }, s.late)
	if err == nil || err.Error() != "b failed: not ready after 10ms" {
		t.Errorf("got %v", err)
	}
	s.expect(t, "begin a", "begin b", "stop b", "stop a")
}

func TestTaskOutlivesTheContextItWasStartedWith(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	task := Go(ctx, func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	})
	cancel()
	select {
	case err := <-task.Err():
		t.Fatalf("ended with %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	if err := task.Stop(t.Context()); err != nil {
		t.Errorf("Stop: %v", err)
	}
}

func TestTaskTellsWhyItEndedByItself(t *testing.T) {
	cause := errors.New("no")
	task := Go(t.Context(), func(context.Context) error { return cause })
	if err := <-task.Err(); err != cause {
		t.Errorf("got %v", err)
	}
}

func TestTaskThatDoesNotEndIsReported(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	task := Go(t.Context(), func(context.Context) error { <-release; return nil })
	limit, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := task.Stop(limit); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
