// An HTTP/3 client on quic-go: requests all its URLs at once on one connection, and reports on
// standard output, as one JSON object, when each answer began and ended.
//
// On SIGUSR1 it migrates the connection to another local address: it validates the path from
// there, then switches to it (RFC 9000, section 9). It appends the secrets of TLS to the file that
// SSLKEYLOGFILE names.
package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
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
	idleTimeout      = 30 * time.Second
)

// noError is H3_NO_ERROR (RFC 9114, section 8.1), which has another type in each release of quic-go.
const noError = 0x100

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
	SHA256    *string  `json:"sha256"`
	Error     *string  `json:"error"`
}

type options struct {
	authority string
	address   netip.AddrPort
	qlogDir   string
	migrateTo netip.Addr
	bodies    []string
	digest    bool
	upload    string
	urls      []*url.URL
}

func main() {
	// Until a migration is possible, its signal waits here instead of ending the program.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)

	chosen, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "quic-go-client:", err)
		os.Exit(statusUsage)
	}
	sayRelease()
	result := run(chosen, signals)
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		fmt.Fprintln(os.Stderr, "quic-go-client:", err)
		os.Exit(statusFailed)
	}
	if result.failed() {
		os.Exit(statusFailed)
	}
}

// sayRelease names the release of quic-go that runs, on standard error.
func sayRelease() {
	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if module.Path == "github.com/quic-go/quic-go" {
			fmt.Fprintln(os.Stderr, "quic-go", module.Version)
		}
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
	flags.Func("body", "`FILE` to write a body to; once for each URL, in their order", func(file string) error {
		chosen.bodies = append(chosen.bodies, file)
		return nil
	})
	flags.BoolVar(&chosen.digest, "digest", false, "report the SHA-256 of each body")
	flags.StringVar(&chosen.upload, "upload", "", "`FILE` whose content each request sends, by POST")
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
	if chosen.urls, err = parseURLs(flags.Args()); err != nil {
		return options{}, err
	}
	if len(chosen.bodies) != 0 && len(chosen.bodies) != len(chosen.urls) {
		return options{}, fmt.Errorf("%d --body for %d URLs", len(chosen.bodies), len(chosen.urls))
	}
	return chosen, nil
}

// parseURLs wants https URLs that name one host, because they share a connection.
func parseURLs(words []string) ([]*url.URL, error) {
	var urls []*url.URL
	for _, word := range words {
		parsed, err := url.Parse(word)
		if err != nil || parsed.Scheme != "https" || parsed.Hostname() == "" {
			return nil, fmt.Errorf("not an https URL: %q", word)
		}
		if urls = append(urls, parsed); parsed.Host != urls[0].Host {
			return nil, fmt.Errorf("all URLs must name %s, and %q does not", urls[0].Host, word)
		}
	}
	if len(urls) == 0 {
		return nil, errors.New("no URL given")
	}
	return urls, nil
}

func run(chosen options, signals <-chan os.Signal) report {
	result := report{Requests: make([]request, len(chosen.urls))}
	for i, target := range chosen.urls {
		result.Requests[i].URL = target.String()
	}
	result.Error = text(exchange(chosen, signals, &result))
	return result
}

// exchange carries out everything on one connection; it fails if there is none.
func exchange(chosen options, signals <-chan os.Signal, result *report) error {
	trust, err := trusted(chosen.authority)
	if err != nil {
		return err
	}
	trace := qlogFile{directory: chosen.qlogDir}
	defer trace.wait()
	transport, err := listen(netip.Addr{}, chosen.address)
	if err != nil {
		return err
	}
	defer transport.Close()

	secrets, err := keyLog()
	if err != nil {
		return err
	}
	secure := &tls.Config{
		RootCAs:      trust,
		ServerName:   chosen.urls[0].Hostname(),
		NextProtos:   []string{http3.NextProtoH3},
		KeyLogWriter: secrets,
	}
	config := &quic.Config{
		HandshakeIdleTimeout:           handshakeTimeout,
		MaxIdleTimeout:                 idleTimeout,
		InitialStreamReceiveWindow:     streamWindow,
		MaxStreamReceiveWindow:         streamWindow,
		InitialConnectionReceiveWindow: connectionWindow,
		MaxConnectionReceiveWindow:     connectionWindow,
		Tracer:                         trace.tracer(),
	}
	address := net.UDPAddrFromAddrPort(chosen.address)
	connection, err := transport.Dial(context.Background(), address, secure, config)
	if err != nil {
		return err
	}
	result.Handshake = elapsed()

	migration := migrateOnSignal(connection, chosen, signals)
	client := (&http3.Transport{DisableCompression: true}).NewClientConn(connection)
	var pending sync.WaitGroup
	for i, target := range chosen.urls {
		file := os.DevNull
		if len(chosen.bodies) != 0 {
			file = chosen.bodies[i]
		}
		pending.Go(func() { result.Requests[i].carryOut(client, target, file, chosen) })
	}
	pending.Wait()
	result.Migrated, err = migration.end()
	result.MigrationError = text(err)
	return client.CloseWithError(noError, "")
}

// trusted is the pool of certificates in a file, or nil, the system's, if none is named.
func trusted(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("%s holds no certificate", file)
	}
	return pool, nil
}

// keyLog is where the secrets of TLS are to be written to; nil if nowhere.
func keyLog() (io.Writer, error) {
	name := os.Getenv("SSLKEYLOGFILE")
	if name == "" {
		return nil, nil
	}
	return os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}

// listen opens a UDP socket at a local address, or at any of the remote address's family.
func listen(local netip.Addr, remote netip.AddrPort) (*quic.Transport, error) {
	if !local.IsValid() {
		local = netip.IPv6Unspecified()
		if remote.Addr().Is4() {
			local = netip.IPv4Unspecified()
		}
	}
	socket, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(local, 0)))
	if err != nil {
		return nil, err
	}
	return &quic.Transport{Conn: socket}, nil
}

// carryOut sends the request, with the content of a file if there is one, and reads its answer to the end, into a file.
func (r *request) carryOut(client *http3.ClientConn, target *url.URL, file string, chosen options) {
	sink, err := os.Create(file)
	if err != nil {
		r.Error = text(err)
		return
	}
	defer sink.Close()
	asked := &http.Request{Method: http.MethodGet, URL: target, Host: target.Host, Header: http.Header{}}
	if err := fill(asked, chosen.upload); err != nil {
		r.Error = text(err)
		return
	}
	response, err := client.RoundTrip(asked)
	if err != nil {
		r.Error = text(err)
		return
	}
	defer response.Body.Close()
	r.FirstByte, r.Status, r.Proto = elapsed(), response.StatusCode, response.Proto

	digest := sha256.New()
	body := io.Reader(response.Body)
	if chosen.digest {
		body = io.TeeReader(body, digest)
	}
	r.Bytes, err = io.CopyBuffer(onlyWriter{sink}, body, make([]byte, 64<<10))
	if err != nil {
		r.Error = text(err)
		return
	}
	r.Total = elapsed()
	if chosen.digest {
		sum := hex.EncodeToString(digest.Sum(nil))
		r.SHA256 = &sum
	}
}

// fill makes a request a POST with the content of a file, if there is one.
func fill(asked *http.Request, upload string) error {
	if upload == "" {
		return nil
	}
	content, err := os.Open(upload)
	if err != nil {
		return err
	}
	about, err := content.Stat()
	if err != nil {
		return err
	}
	asked.Method, asked.Body, asked.ContentLength = http.MethodPost, content, about.Size()
	return nil
}

// onlyWriter hides ReadFrom, with which io.CopyBuffer would not use its buffer.
type onlyWriter struct{ io.Writer }

// migration is a migration of a connection that may come.
type migration struct {
	cancel context.CancelFunc
	done   chan struct{}
	at     *float64
	err    error
}

// migrateOnSignal waits in the background for the signal, and then migrates.
func migrateOnSignal(connection *quic.Conn, chosen options, signals <-chan os.Signal) *migration {
	life, cancel := context.WithCancel(context.Background())
	m := &migration{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(m.done)
		select {
		case <-life.Done():
		case <-signals:
			if m.err = migrate(life, connection, chosen); m.err == nil {
				m.at = elapsed()
			}
		}
	}()
	return m
}

// end gives up a migration that is not complete; it returns when the connection migrated, if at all.
func (m *migration) end() (*float64, error) {
	m.cancel()
	<-m.done
	return m.at, m.err
}

func migrate(life context.Context, connection *quic.Conn, chosen options) error {
	if !chosen.migrateTo.IsValid() {
		return errors.New("SIGUSR1 came, and --migrate-to names no address")
	}
	// Its socket stays open for as long as the connection, which is as long as the program.
	transport, err := listen(chosen.migrateTo, chosen.address)
	if err != nil {
		return err
	}
	path, err := connection.AddPath(transport)
	if err != nil {
		return err
	}
	if err := path.Probe(life); err != nil {
		return fmt.Errorf("the path from %s was not validated: %w", chosen.migrateTo, err)
	}
	return path.Switch()
}

func (r *report) failed() bool {
	for _, answered := range r.Requests {
		if answered.Error != nil {
			return true
		}
	}
	return r.Error != nil
}

func elapsed() *float64 {
	seconds := time.Since(started).Seconds()
	return &seconds
}

func text(err error) *string {
	if err == nil {
		return nil
	}
	message := err.Error()
	return &message
}
