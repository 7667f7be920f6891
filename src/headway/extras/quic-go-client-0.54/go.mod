module headway/quic-go-client

go 1.26.0

require github.com/quic-go/quic-go v0.54.1

require (
	github.com/francoispqt/gojay v1.2.13 // indirect
	github.com/quic-go/qpack v0.5.1 // indirect
	golang.org/x/crypto v0.26.0 // indirect
	golang.org/x/net v0.28.0 // indirect
	golang.org/x/sys v0.23.0 // indirect
	golang.org/x/text v0.17.0 // indirect
)
