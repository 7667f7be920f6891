// A server of HTTP/1.1 and HTTP/2 over TLS: Go's own, for the files of a directory.
package main

import (
	"log"
	"net/http"
	"os"
)

func main() {
	address, certificate, key, root := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	log.Fatal(http.ListenAndServeTLS(address, certificate, key, http.FileServer(http.Dir(root))))
}
