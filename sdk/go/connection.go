package easyretry

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const mostAnswerBytes = 64 << 20 // a lease has about 8 MiB; something else answers if there is far more

var errNotADaemon = errors.New("not an EasyRetry daemon")

// connection sends single requests to one daemon. Safe for concurrent use.
type connection struct {
	url       string
	namespace string
	tokenFile string
	limit     time.Duration // for an answer, beyond the time that the request asks the daemon to wait
	http      *http.Client

	mutex sync.Mutex
	token string // guarded by mutex
}

type request struct {
	method string
	path   string
	body   []byte        // nil: none
	wait   time.Duration // how long the daemon may take by itself
	limit  time.Duration // for the answer; 0: the connection's
	name   string        // Idempotency-Key
	line   *line         // its own connection; nil: any
}

// answer holds what was read. now is the store's time, or zero if the daemon did not say it.
type answer struct {
	now      time.Time
	remember time.Duration // how far back the daemon remembers an Idempotency-Key
}

// setToken is called once. What the program says wins over the environment.
func (c *connection) setToken(token, file string) error {
	if token != "" && file != "" {
		return errors.New("set Token or TokenFile, not both")
	}
	if token == "" && file == "" {
		if token = os.Getenv("EASYRETRY_TOKEN"); token == "" {
			file = os.Getenv("EASYRETRY_TOKEN_FILE")
		}
	}
	c.token, c.tokenFile = token, file
	switch {
	case file != "" && !c.readTokenAgain(""):
		return fmt.Errorf("TokenFile: %s cannot be read, or is empty", file)
	case c.token == "":
		return errors.New("no token: set Token, TokenFile, EASYRETRY_TOKEN or EASYRETRY_TOKEN_FILE; `easyretry token create` makes one")
	}
	return nil
}

func (c *connection) currentToken() string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.token
}

// readTokenAgain tells whether the file has another token than the one that was refused.
func (c *connection) readTokenAgain(refused string) bool {
	if c.tokenFile == "" {
		return false
	}
	text, err := os.ReadFile(c.tokenFile)
	token := strings.TrimSpace(string(text))
	if err != nil || token == "" {
		return false
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.token = token
	return token != refused
}

// ask sends one request and decodes the answer into `into`, which may be nil.
func (c *connection) ask(ctx context.Context, r request, into any) (answer, error) {
	token := c.currentToken()
	said, err := c.askOnce(ctx, r, token, into)
	if hasStatus(err, http.StatusUnauthorized) && c.readTokenAgain(token) {
		return c.askOnce(ctx, r, c.currentToken(), into)
	}
	return said, err
}

func (c *connection) askOnce(ctx context.Context, r request, token string, into any) (answer, error) {
	limit := r.wait + orElse(r.limit, c.limit)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	response, err := c.send(limited, r, token)
	if err == nil {
		defer response.Body.Close()
		var said answer
		if said, err = c.read(response, into); err == nil {
			return said, nil
		}
		var known *Unanswered
		if refusal := (*Refusal)(nil); errors.As(err, &refusal) || errors.As(err, &known) {
			return said, err
		}
	}
	if ctx.Err() != nil {
		return answer{}, context.Cause(ctx)
	}
	return answer{}, c.unanswered(err, limit)
}

func (c *connection) send(ctx context.Context, r request, token string) (*http.Response, error) {
	wanted, err := http.NewRequestWithContext(ctx, r.method, c.url+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	wanted.Header.Set("Authorization", "Bearer "+token)
	if r.body != nil {
		wanted.Header.Set("Content-Type", "application/json")
	}
	if c.namespace != "" {
		wanted.Header.Set("easyretry-namespace", c.namespace)
	}
	if r.name != "" {
		wanted.Header.Set("Idempotency-Key", r.name)
	}
	if r.line != nil {
		return r.line.client.Do(wanted)
	}
	return c.http.Do(wanted)
}

func (c *connection) read(response *http.Response, into any) (answer, error) {
	said := answer{remember: millis(response.Header.Get("easyretry-remembers-ms"))}
	said.now, _ = time.Parse(time.RFC3339, response.Header.Get("easyretry-time"))
	if response.StatusCode >= 300 && response.StatusCode < 400 {
		return said, c.stranger(response, fmt.Sprintf("it redirects to %s; set the address of the daemon itself, because a token is not sent elsewhere",
			hostOf(response.Header.Get("Location"))))
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, mostAnswerBytes))
	if err != nil {
		return said, err
	}
	if response.StatusCode >= 400 {
		return said, c.refusal(response, text)
	}
	if into == nil {
		into = &json.RawMessage{}
	}
	// Other servers may answer with JSON, too. Only a daemon says the time of its store.
	if json.Unmarshal(text, into) != nil || said.now.IsZero() {
		return said, c.stranger(response, fmt.Sprintf("it answered %q, which is not the JSON of this API", response.Header.Get("Content-Type")))
	}
	return said, nil
}

func (c *connection) refusal(response *http.Response, text []byte) error {
	var said struct {
		Error *struct {
			Code      string `json:"code"`
			Message   string `json:"message"`
			Hint      string `json:"hint"`
			RequestID string `json:"request_id"`
		} `json:"error"`
	}
	after := retryAfter(response.Header.Get("Retry-After"))
	if json.Unmarshal(text, &said) == nil && said.Error != nil && said.Error.Code != "" {
		return &Refusal{response.StatusCode, said.Error.Code, said.Error.Message, said.Error.Hint, said.Error.RequestID, after}
	}
	if response.StatusCode == 429 || response.StatusCode >= 500 { // of a proxy before the daemon: it may pass
		return &Refusal{Status: response.StatusCode, Code: "no_code", RetryAfter: after,
			Message: fmt.Sprintf("%s gave an error that is not of a daemon (%q), perhaps from a proxy", c.url, response.Header.Get("Content-Type"))}
	}
	return c.stranger(response, fmt.Sprintf("it answered %q", response.Header.Get("Content-Type")))
}

// stranger never quotes the body: it may contain anything.
func (c *connection) stranger(response *http.Response, why string) error {
	return &Unanswered{URL: c.url, Sent: true, Err: errNotADaemon,
		What: fmt.Sprintf("%s is not an EasyRetry daemon of this version (HTTP %d): %s", c.url, response.StatusCode, why)}
}

func (c *connection) unanswered(err error, limit time.Duration) error {
	var bad *tls.CertificateVerificationError
	var notTLS tls.RecordHeaderError
	var dial *net.OpError
	switch {
	case errors.As(err, &bad):
		return &Unanswered{c.url, false, fmt.Sprintf("the certificate of %s is not trusted (%v); set CAFile or EASYRETRY_CA_FILE", c.url, bad.Err), err}
	case errors.As(err, &notTLS), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return &Unanswered{c.url, false, fmt.Sprintf("the server at %s does not speak TLS; use http:// if the daemon has no certificate", c.url), err}
	case errors.As(err, &dial) && dial.Op == "dial":
		return &Unanswered{c.url, false, fmt.Sprintf("no daemon answers at %s (%v); start it, or correct the address", c.url, dial.Err), err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Unanswered{c.url, true, fmt.Sprintf("%s did not answer within %s", c.url, limit), err}
	}
	return &Unanswered{c.url, true, fmt.Sprintf("the connection to %s was cut before the answer was complete (%v)", c.url, err), err}
}

func hostOf(location string) string {
	parsed, err := url.Parse(location)
	if err != nil || parsed.Host == "" {
		return "another path"
	}
	return parsed.Host
}

func millis(text string) time.Duration {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < 0 {
		return 0
	}
	return time.Duration(min(number, int64(24*time.Hour/time.Millisecond))) * time.Millisecond
}

// retryAfter reads seconds, as daemons send them, or a date, as proxies may.
func retryAfter(text string) time.Duration {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds >= 0 && seconds < 1e9 {
		return time.Duration(seconds * float64(time.Second))
	}
	if date, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(date))
	}
	return 0
}

func trusting(caFile string) (*http.Transport, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	if caFile == "" {
		return transport, nil
	}
	text, err := os.ReadFile(caFile)
	if err != nil {
		return nil, fmt.Errorf("CAFile: %w", err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("CAFile: %s contains no certificate in PEM", caFile)
	}
	transport.TLSClientConfig = &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS12}
	return transport, nil
}
