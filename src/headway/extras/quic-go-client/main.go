// An HTTP/3 client on quic-go: requests all its URLs at once on one connection, and reports on
// standard output, as one JSON object, when each answer began and ended.
//
// On SIGUSR1 it migrates the connection to another local address: it validates the path from
// there, then switches to it (RFC 9000, section 9).
package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"
)

// Flow control is not to limit a transfer: these windows exceed the bandwidth-delay product of
// every path that a study is likely to have, and are open from the start.
const (
	streamWindow     = 16 << 20
	connectionWindow = 24 << 20
)

// A lossy or long path is no reason to give up; whoever started the client limits its time.
const (
	handshakeTimeout = 60 * time.Second
	idleTimeout      = 120 * time.Second
)

const (
	statusFailed = 1
	statusUsage  = 2
)

var started = time.Now()

// report is what the client prints. Times are seconds from the program's start.
type report struct {
	Handshake      *float64  `json:"handshake_s"`
	Error          *string   `json:"error"`
	Requests       []request `json:"requests"`
	Migrated       *float64  `json:"migrated_s"`
	MigrationError *string   `json:"migration_error"`
}

type request struct {
	URL       string   `json:"url"`
	Status    int      `json:"status"`
	Proto     string   `json:"proto"`
	FirstByte *float64 `json:"ttfb_s"`
	Total     *float64 `json:"total_s"`
	Bytes     int64    `json:"bytes"`
	Digest    *string  `json:"sha256,omitempty"`
	Error     *string  `json:"error"`
}

type options struct {
	authority string
	address   netip.AddrPort
	qlogDir   string
	migrateTo netip.Addr
	digest    bool
	urls      []*url.URL
}

func main() {
	chosen, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "quic-go-client:", err)
		os.Exit(statusUsage)
	}
	// Until a migration is possible, its signal waits here instead of ending the program.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)

	result := run(chosen, signals)
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		fmt.Fprintln(os.Stderr, "quic-go-client:", err)
		os.Exit(statusFailed)
	}
	if result.failed() {
		os.Exit(statusFailed)
	}
}

func parse(arguments []string) (options, error) {
	var chosen options
	var address, migrateTo string
	flags := flag.NewFlagSet("quic-go-client", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: quic-go-client [OPTIONS] URL...")
		flags.PrintDefaults()
	}
	flags.StringVar(&chosen.authority, "ca", "", "`FILE` of trusted certificates instead of the system's")
	flags.StringVar(&address, "address", "", "`IP:PORT` to connect to, whatever host the URLs name")
	flags.StringVar(&chosen.qlogDir, "qlog", "", "`DIR`ectory to write quic-go-client.sqlog to")
	flags.StringVar(&migrateTo, "migrate-to", "", "local `IP` address to migrate to on SIGUSR1")
	flags.BoolVar(&chosen.digest, "digest", false, "report the SHA-256 of each body")
	if err := flags.Parse(arguments); err != nil {
		return options{}, err
	}
	var err error
	if chosen.address, err = netip.ParseAddrPort(address); err != nil {
		return options{}, fmt.Errorf("--address must be IP:PORT, not %q", address)
	}
	if migrateTo != "" {
		if chosen.migrateTo, err = netip.ParseAddr(migrateTo); err != nil {
			return options{}, fmt.Errorf("--migrate-to must be an IP address, not %q", migrateTo)
		}
	}
	chosen.urls, err = parseURLs(flags.Args())
	return chosen, err
}

func parseURLs(words []string) ([]*url.URL, error) {
	if len(words) == 0 {
		return nil, errors.New("no URL given")
	}
	urls := make([]*url.URL, len(words))
	for i, word := range words {
		parsed, err := url.Parse(word)
		if err != nil || parsed.Scheme != "https" || parsed.Hostname() == "" {
			return nil, fmt.Errorf("not an https URL: %q", word)
		}
		if parsed.Host != urls[0:1][0].hostOr(parsed) {
			return nil, fmt.Errorf("all URLs must name one host, and %q names another", word)
		}
		urls[i] = parsed
	}
	return urls, nil
}
