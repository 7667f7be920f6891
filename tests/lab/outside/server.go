// An HTTP/2 server over TLS that Headway does not know.
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
