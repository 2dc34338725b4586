package component

import (
	"context"
	"fmt"
)

// Task is a Handle's Err and Stop for a component that is one function.
type Task struct {
	cancel context.CancelFunc
	ended  chan struct{}
	err    chan error
}

// Go runs the function until Stop. The function's context carries the values of ctx and not its end: only Stop ends a
// component, so that the order holds.
func Go(ctx context.Context, run func(context.Context) error) *Task {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	t := &Task{cancel: cancel, ended: make(chan struct{}), err: make(chan error, 1)}
	go func() {
		defer close(t.ended)
		err := run(ctx)
		if ctx.Err() == nil {
			t.err <- err
		}
	}()
	return t
}

// Err receives what the function returned, if it returned before Stop.
func (t *Task) Err() <-chan error { return t.err }

// Stop ends the function's context and waits for it.
func (t *Task) Stop(ctx context.Context) error {
	t.cancel()
	select {
	case <-t.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("still running: %w", ctx.Err())
	}
}
