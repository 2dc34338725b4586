// Command controlplane runs a Kubernetes control plane without nodes in one process: etcd, kube-apiserver and the
// controllers that a course about the API needs; and, without any of them, follows one object through the API server.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"labkit.example/controlplane/internal/announce"
	"labkit.example/controlplane/internal/fault"
)

const usage = `usage: controlplane serve --state-dir DIR [--throw-away] [--until stdin|pid:N|signal] [--port N]
       controlplane trace [--once] [--allow-without]
       controlplane version
`

func main() {
	terminal := *os.Stderr // serve gives os.Stderr to the log
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, &terminal))
}

// run gives the exit code: 0 after an orderly stop, 1 after a failure that one line on stderr tells, 2 for a wrong usage.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var command string
	if len(args) > 0 {
		command = args[0]
	}
	var err error
	switch command {
	case "serve":
		var settings settings
		settings, err = parse(args[1:])
		if err != nil {
			break
		}
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
		defer stop()
		err = serve(ctx, settings, stdin, stdout)
	case "trace":
		if err = traceCommand(args[1:], stdin, stdout); err == errNoResult {
			return 1
		}
	case "version":
		err = printVersion(stdout)
	case "help", "-h", "--help":
		fmt.Fprint(stdout, usage)
	default:
		err = wrongUsage{fmt.Errorf("no command %q", command)}
	}
	switch err.(type) {
	case nil:
		return 0
	case wrongUsage:
		fmt.Fprintf(stderr, "controlplane: %v\n%s", err, usage)
		return 2
	default:
		fmt.Fprintln(stderr, "controlplane: "+fault.Line(err, "failed", "report this"))
		return 1
	}
}

type wrongUsage struct{ error }

func printVersion(out io.Writer) error {
	v, err := announce.Built()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Kubernetes %s, etcd %s, %s\n", v.Kubernetes, v.Etcd, v.Go)
	return err
}
