// Package fault holds the one form in which this program tells a person what went wrong.
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// Error says what is the case, how that is known, and what to do about it.
type Error struct {
	State    string
	Evidence error
	NextAct  string
}

// New makes an Error.
func New(state string, evidence error, nextAct string) *Error {
	return &Error{State: state, Evidence: evidence, NextAct: nextAct}
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %v; %s", e.State, e.Evidence, e.NextAct)
}

func (e *Error) Unwrap() error { return e.Evidence }

// Line gives any error as one line in the form "state: evidence; next act".
// An error that is no Error gets the state and the next act handed in.
func Line(err error, state, nextAct string) string {
	var known *Error
	if !errors.As(err, &known) {
		known = New(state, err, nextAct)
	}
	return strings.Join(strings.Fields(known.Error()), " ")
}
