package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlogwriter"
)

// qlogFile writes a connection's qlog, if a directory is named for it.
type qlogFile struct {
	directory string
	writing   sync.WaitGroup
}

func (q *qlogFile) tracer() func(context.Context, bool, quic.ConnectionID) qlogwriter.Trace {
	if q.directory == "" {
		return nil
	}
	return func(_ context.Context, isClient bool, id quic.ConnectionID) qlogwriter.Trace {
		file, err := os.Create(filepath.Join(q.directory, "quic-go-client.sqlog"))
		if err != nil {
			fmt.Fprintln(os.Stderr, "quic-go-client: no qlog:", err)
			return nil
		}
		trace := qlogwriter.NewConnectionFileSeq(&buffered{bufio.NewWriter(file), file}, isClient, id)
		q.writing.Go(trace.Run)
		return trace
	}
}

// wait returns when the qlog is complete; the connection must be closed.
func (q *qlogFile) wait() { q.writing.Wait() }

type buffered struct {
	*bufio.Writer
	file *os.File
}

func (b *buffered) Close() error { return errors.Join(b.Flush(), b.file.Close()) }
