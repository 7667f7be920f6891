package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/logging"
	"github.com/quic-go/quic-go/qlog"
)

// qlogFile writes a connection's qlog, if a directory is named for it; quic-go writes it to its end by itself.
type qlogFile struct {
	directory string
	closed    chan struct{}
}

func (q *qlogFile) tracer() func(context.Context, logging.Perspective, quic.ConnectionID) *logging.ConnectionTracer {
	if q.directory == "" {
		return nil
	}
	return func(_ context.Context, role logging.Perspective, id quic.ConnectionID) *logging.ConnectionTracer {
		file, err := os.Create(filepath.Join(q.directory, "quic-go-client.sqlog"))
		if err != nil {
			fmt.Fprintln(os.Stderr, "quic-go-client: no qlog:", err)
			return nil
		}
		q.closed = make(chan struct{})
		return qlog.NewConnectionTracer(&buffered{bufio.NewWriter(file), file, q.closed}, role, id)
	}
}

// wait returns when the qlog is complete; the connection must be closed.
func (q *qlogFile) wait() {
	if q.closed != nil {
		<-q.closed
	}
}

type buffered struct {
	*bufio.Writer
	file   *os.File
	closed chan struct{}
}

func (b *buffered) Close() error {
	defer close(b.closed)
	return errors.Join(b.Flush(), b.file.Close())
}
