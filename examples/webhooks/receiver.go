// A handler behind a URL, in Go without packages: go run receiver.go PORT SECRET
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// body: the bytes as they came, before they are read as JSON
func verified(secret string, header http.Header, body []byte) bool {
	message, sent := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(sent, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false // too old: it may be a replay
	}
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(message + "." + sent + "."))
	mac.Write(body)
	right := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, given := range strings.Fields(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(right), []byte(given)) {
			return true
		}
	}
	return false
}

func main() {
	secret := os.Args[2]
	receive := func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil || !verified(secret, request.Header, body) {
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		key, _ := url.PathUnescape(request.Header.Get("easyretry-task-key"))
		fmt.Println(key, string(body))
		response.WriteHeader(http.StatusOK)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("listening at", listener.Addr().(*net.TCPAddr).Port)
	http.Serve(listener, http.HandlerFunc(receive))
}
