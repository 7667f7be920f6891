module headway/x-net-interop

go 1.26.0

tool golang.org/x/net/internal/quic/cmd/interop

require (
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
