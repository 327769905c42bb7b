// Package easyretry stores tasks in an EasyRetry daemon and runs them: a Client submits, a Worker leases.
package easyretry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Options of a client. The zero value connects to EASYRETRY_URL, or http://127.0.0.1:7077, with EASYRETRY_TOKEN or the token in
// EASYRETRY_TOKEN_FILE.
type Options struct {
	URL       string
	Token     string
	TokenFile string // instead of Token; read again when the daemon refuses the token
	Namespace string // for tokens of all namespaces
	CAFile    string // PEM of the authority that signed the daemon's certificate; default: EASYRETRY_CA_FILE, or the system's
	// AllowPlainHTTP allows http:// to another machine, where anyone on the way can read the token.
	AllowPlainHTTP bool
	// RetryFor is how long a call repeats a request that got no answer, 429 or 5xx. Default: 30 s; negative: not at all.
	RetryFor time.Duration
	// LongestPause between two tries, unless the daemon asks for more; default 15 s.
	LongestPause time.Duration
	// RequestTimeout is how long one answer may take, beyond the time that a request waits for tasks; default 30 s.
	RequestTimeout time.Duration
	// Transport replaces the one of this package, for tests and proxies. CAFile does not apply to it.
	Transport http.RoundTripper
}

// Client stores and manages tasks. Safe for concurrent use.
type Client struct {
	connection   *connection
	retryFor     time.Duration
	longestPause time.Duration
}

// NewClient checks the options. It does not connect.
func NewClient(options Options) (*Client, error) {
	address, err := checkedURL(orElse(options.URL, os.Getenv("EASYRETRY_URL"), "http://127.0.0.1:7077"), options.AllowPlainHTTP)
	if err != nil {
		return nil, err
	}
	c := &connection{url: address, namespace: options.Namespace, limit: orElse(options.RequestTimeout, 30*time.Second)}
	if err = c.setToken(options.Token, options.TokenFile); err != nil {
		return nil, err
	}
	transport := options.Transport
	if transport == nil {
		if transport, err = trusting(orElse(options.CAFile, os.Getenv("EASYRETRY_CA_FILE"))); err != nil {
			return nil, err
		}
	}
	// A redirect would send the token elsewhere.
	c.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Client{c, orElse(options.RetryFor, 30*time.Second), orElse(options.LongestPause, 15*time.Second)}, nil
}

// MustClient is NewClient for programs that cannot go on without it: it panics if an option is wrong.
func MustClient(options Options) *Client {
	client, err := NewClient(options)
	if err != nil {
		panic("easyretry: " + err.Error())
	}
	return client
}

// Get returns one task, without its arguments.
func (c *Client) Get(ctx context.Context, id string) (*Task, error) {
	var task Task
	_, err := c.repeat(ctx, request{method: "GET", path: taskPath(id, "")}, mayPass, &task)
	return &task, err
}

const longestWait = time.Minute

// Wait returns the task when it has ended, or the context's error. The result is there if the store keeps results and the
// token may see them.
func (c *Client) Wait(ctx context.Context, id string) (*Task, error) {
	query := "?result&wait_ms="
	for {
		wait := longestWait
		if deadline, limited := ctx.Deadline(); limited {
			wait = max(0, min(wait, time.Until(deadline)))
		}
		var task Task
		path := taskPath(id, "") + query + strconv.FormatInt(wait.Milliseconds(), 10)
		_, err := c.repeat(ctx, request{method: "GET", path: path, wait: wait}, mayPass, &task)
		if hasStatus(err, http.StatusForbidden) && query != "?wait_ms=" {
			query = "?wait_ms=" // the token may see tasks, but not results
			continue
		}
		if err != nil {
			return nil, err
		}
		if task.State == "finished" {
			return &task, nil
		}
		// A daemon that stops answers all waits at once; this must not become a loop without pauses.
		if !sleep(ctx, firstPause) {
			return nil, context.Cause(ctx)
		}
	}
}

// Cancel ends a task that has not ended; its worker gets ErrLeaseLost. Needs an operator's token.
func (c *Client) Cancel(ctx context.Context, id string) error { return c.change(ctx, id, "/cancel") }

// Retry makes a pending task due now. Needs an operator's token.
func (c *Client) Retry(ctx context.Context, id string) error { return c.change(ctx, id, "/retry") }

func (c *Client) change(ctx context.Context, id, verb string) error {
	again := func(err error) bool { return mayPass(err) && changedNothing(err) }
	_, err := c.repeat(ctx, request{method: "POST", path: taskPath(id, verb), body: []byte("{}")}, again, nil)
	return err
}

// repeat asks until there is an answer, for retryFor at most. `again` tells which errors allow it.
func (c *Client) repeat(ctx context.Context, r request, again func(error) bool, into any) (answer, error) {
	began, pauses := time.Now(), c.pauses()
	for {
		said, err := c.connection.ask(ctx, r, into)
		if err == nil || !again(err) {
			return said, err
		}
		pause := pauses.next(err)
		if time.Since(began)+pause > c.retryFor || !sleep(ctx, pause) {
			return said, err
		}
	}
}

func (c *Client) pauses() pauses { return pauses{longest: c.longestPause} }

func taskPath(id, verb string) string { return "/v1/tasks/" + url.PathEscape(id) + verb }

func checkedURL(text string, plainAllowed bool) (string, error) {
	address, err := url.Parse(text)
	if err != nil || address.Host == "" || (address.Scheme != "http" && address.Scheme != "https") {
		return "", fmt.Errorf("the URL of the daemon is %q; use one like http://127.0.0.1:7077", text)
	}
	if address.User != nil || address.RawQuery != "" {
		return "", errors.New("the URL of the daemon has a user, a password or a query; leave them out, and set Token")
	}
	if address.Scheme == "http" && !plainAllowed && !isThisMachine(address.Hostname()) {
		return "", fmt.Errorf("http:// to another machine (%s) would show the token to anyone on the way; use https://, or set AllowPlainHTTP",
			address.Host)
	}
	return strings.TrimRight(address.String(), "/"), nil
}

func isThisMachine(host string) bool {
	address := net.ParseIP(host)
	return host == "localhost" || (address != nil && address.IsLoopback())
}

// orElse is the first value that is not zero.
func orElse[T comparable](values ...T) T {
	var zero T
	for _, value := range values {
		if value != zero {
			return value
		}
	}
	return zero
}
