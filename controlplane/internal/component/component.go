// Package component starts servers that depend on one another and stops them again.
//
// A later component needs the earlier ones: kube-apiserver hangs for minutes when its etcd goes first. So they start one
// after the other, each when the one before serves, and stop in reverse order, each within its own limit. The first that
// fails stops all, and its error is what the caller gets.
package component

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// Handle is a started component.
type Handle interface {
	// Ready is closed when the component serves.
	Ready() <-chan struct{}
	// Err receives one error when the component ends without having been stopped.
	Err() <-chan error
	// Stop ends the component and returns when it has ended or ctx is done.
	Stop(ctx context.Context) error
}

// Serving is for a component that the next one can use before it is ready.
type Serving interface {
	// Serving is closed when the next component may begin.
	Serving() <-chan struct{}
}

// Start is one line of the start order.
type Start struct {
	Name string
	// Begin starts the component. It does not wait until it serves. What it starts lives until Stop, whatever becomes of ctx.
	Begin func(ctx context.Context) (Handle, error)
	// ReadyWithin limits each wait for it: one that never gets ready has failed. It is for what hangs, not for what is slow.
	ReadyWithin time.Duration
	// StopWithin limits the stop.
	StopWithin time.Duration
}

// Failure is the error of a component that did not start, or that ended without having been stopped.
type Failure struct {
	Component string
	Err       error
}

func (f *Failure) Error() string { return fmt.Sprintf("%s failed: %v", f.Component, f.Err) }
func (f *Failure) Unwrap() error { return f.Err }

type running struct {
	Start
	Handle
}

// Run starts the components in order, calls ready when all are, and waits until ctx is done or a component fails. Before
// it returns it stops what it started, in reverse order, and tells late of each stop that missed its limit.
// The result is nil when ctx ended the run.
func Run(ctx context.Context, starts []Start, ready func() error, late func(name string, err error)) error {
	var up []running
	defer func() {
		for i := len(up) - 1; i >= 0; i-- {
			limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), up[i].StopWithin)
			if err := up[i].Stop(limit); err != nil {
				late(up[i].Name, err)
			}
			cancel()
		}
	}()

	for _, start := range starts {
		handle, err := start.Begin(ctx)
		if err != nil {
			return &Failure{start.Name, err}
		}
		up = append(up, running{start, handle})
		serving := handle.Ready()
		if early, ok := handle.(Serving); ok {
			serving = early.Serving()
		}
		if err := awaitReady(ctx, up, start, serving); err != nil || ctx.Err() != nil {
			return err
		}
	}
	for _, r := range up {
		if err := awaitReady(ctx, up, r.Start, r.Ready()); err != nil || ctx.Err() != nil {
			return err
		}
	}
	if err := ready(); err != nil {
		return err
	}
	return await(ctx, up, nil)
}

func awaitReady(ctx context.Context, up []running, start Start, ready <-chan struct{}) error {
	limit, cancel := context.WithTimeout(ctx, start.ReadyWithin)
	defer cancel()
	err := await(limit, up, ready)
	if err == nil && ctx.Err() == nil && limit.Err() != nil {
		return &Failure{start.Name, fmt.Errorf("not ready after %v", start.ReadyWithin)}
	}
	return err
}

// await returns nil when event or ctx is done, and the error of the first component that fails before.
func await(ctx context.Context, up []running, event <-chan struct{}) error {
	cases := []reflect.SelectCase{
		{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(ctx.Done())},
		{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(event)},
	}
	for _, r := range up {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(r.Err())})
	}
	chosen, value, _ := reflect.Select(cases)
	if chosen < 2 {
		return nil
	}
	err, _ := value.Interface().(error)
	if err == nil {
		err = errors.New("ended without having been asked to")
	}
	return &Failure{up[chosen-2].Name, err}
}
