package main

import (
	"context"
	"errors"
	"io"

	"labkit.example/controlplane/internal/announce"
	"labkit.example/controlplane/internal/fault"
	"labkit.example/controlplane/internal/statedir"
)

// serve runs a control plane until ctx ends or its owner is gone.
func serve(ctx context.Context, s settings, stdin io.Reader, stdout io.Writer) error {
	versions, err := announce.Built()
	if err != nil {
		return err
	}
	gone, err := s.until.Gone(stdin)
	if err != nil {
		return fault.New("no owner to wait for", err, "name a running process with --until")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		<-gone
		cancel()
	}()

	dir, err := statedir.Open(s.stateDir, statedir.Marker{Kubernetes: versions.Kubernetes, Etcd: versions.Etcd, ThrowAway: s.throwAway})
	if err != nil {
		return err
	}
	p, err := prepare(dir, s, versions)
	if err != nil {
		return errors.Join(err, dir.Undo())
	}
	if err := p.run(ctx, stdout); err != nil {
		err = statedir.Describe(err, "control plane stopped", "read "+dir.File(logFile))
		if !p.hasStore {
			return errors.Join(err, p.log.Close(), dir.Undo())
		}
		return errors.Join(err, dir.Close())
	}
	if s.throwAway {
		return errors.Join(p.log.Close(), dir.Remove())
	}
	return dir.Close()
}
