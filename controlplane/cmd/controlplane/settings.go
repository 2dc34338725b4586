package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"labkit.example/controlplane/internal/owner"
)

// settings is the command line of serve.
type settings struct {
	stateDir  string
	throwAway bool
	until     owner.Owner
	port      int
}

func parse(args []string) (settings, error) {
	var s settings
	var until string
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&s.stateDir, "state-dir", "", "")
	flags.BoolVar(&s.throwAway, "throw-away", false, "")
	flags.StringVar(&until, "until", "stdin", "")
	flags.IntVar(&s.port, "port", 0, "")
	if err := flags.Parse(args); err != nil {
		return s, wrongUsage{err}
	}
	var err error
	switch s.until, err = owner.Parse(until); {
	case err != nil:
		return s, wrongUsage{fmt.Errorf("--until: %w", err)}
	case flags.NArg() > 0:
		return s, wrongUsage{fmt.Errorf("unexpected %q", flags.Arg(0))}
	case s.stateDir == "":
		return s, wrongUsage{errors.New("--state-dir is missing")}
	case s.port < 0 || s.port > 65535:
		return s, wrongUsage{fmt.Errorf("--port %d is no port", s.port)}
	}
	return s, nil
}
