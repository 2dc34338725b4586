package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/pflag"

	"labkit.example/controlplane/internal/answer"
)

// errNoResult is the exit code of trace --once after an answer that is an error, which says all there is to say.
var errNoResult = errors.New("no result")

// traceCommand answers questions until standard input ends. It needs no state directory, no network and no files.
func traceCommand(args []string, stdin io.Reader, stdout io.Writer) error {
	var once, allowWithout bool
	flags := pflag.NewFlagSet("trace", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&once, "once", false, "")
	flags.BoolVar(&allowWithout, "allow-without", false, "")
	if err := flags.Parse(args); err != nil {
		return wrongUsage{err}
	}
	if flags.NArg() > 0 {
		return wrongUsage{fmt.Errorf("unexpected %q", flags.Arg(0))}
	}
	answer.Silence()
	debug.SetGCPercent(gcPercent)
	a := answer.New()
	a.AllowWithout = allowWithout
	ok, err := a.Serve(stdin, stdout, once)
	if err == nil && once && !ok {
		return errNoResult
	}
	return err
}

// gcPercent lets as much garbage lie as there is to keep, twice over: there is little to keep, and each answer is garbage at once.
const gcPercent = 200
