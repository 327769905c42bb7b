package easyretry

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

const patience = 30 * time.Second

// scripted is a server that lends some tasks once and writes down how they are settled. `fault`, if set, may answer a
// request instead; it returns whether it did.
type scripted struct {
	*httptest.Server
	mutex   sync.Mutex
	tasks   []string // texts, each lent once
	fault   func(http.ResponseWriter, *http.Request) bool
	settled chan string // "ID kind-or-verb BODY"
	asked   chan string // bodies of lease requests
}

func newScripted(t *testing.T, tasks ...string) *scripted {
	s := &scripted{tasks: tasks, settled: make(chan string, 1000), asked: make(chan string, 1000)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func taskJSON(id int, handler, args string) string {
	return fmt.Sprintf(`{"id":"910048318464253%d","version":2,"handler":%q,"attempts":1,"args":%s,"from_the_future":{"x":1}}`, 100+id, handler, args)
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.fault != nil && s.fault(w, r) {
		return
	}
	body, _ := io.ReadAll(r.Body)
	asADaemon(w)
	switch {
	case r.URL.Path == "/v1/leases":
		s.asked <- string(body)
		s.lend(w, r)
	case r.URL.Path == "/v1/leases/settle" || r.URL.Path == "/v1/leases/renew":
		var many struct{ Tasks []struct{ ID, Kind string } }
		_ = json.Unmarshal(body, &many)
		applied := make([]string, len(many.Tasks))
		for i, one := range many.Tasks {
			applied[i] = "true"
			if one.Kind != "" {
				s.settled <- one.ID + " " + one.Kind
			}
		}
		fmt.Fprintf(w, `{"applied":[%s]}`, strings.Join(applied, ","))
	default:
		parts := strings.Split(r.URL.Path, "/")
		s.settled <- fmt.Sprintf("%s %s %s", parts[3], parts[4], body)
		fmt.Fprint(w, `{"id":"1","outcome":"succeeded"}`)
	}
}

func (s *scripted) lend(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	tasks := s.tasks
	s.tasks = nil
	s.mutex.Unlock()
	if len(tasks) == 0 {
		select {
		case <-r.Context().Done():
		case <-time.After(patience):
		}
	}
	fmt.Fprintf(w, `{"tasks":[%s],"newer":true}`, strings.Join(tasks, ","))
}

func (s *scripted) client(t *testing.T) *Client {
	return clientOf(t, Options{URL: s.URL})
}

func clientOf(t *testing.T, options Options) *Client {
	t.Helper()
	if options.Token == "" && options.TokenFile == "" {
		options.Token = "er_secret"
	}
	client, err := NewClient(options)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// running is a worker in the background; stop ends it and returns what Run returned.
func running(t *testing.T, worker *Worker) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	var once sync.Once
	var result error
	stop = func() error {
		cancel()
		once.Do(func() {
			select {
			case result = <-ended:
			case <-time.After(patience):
				t.Error("the worker does not stop")
			}
		})
		return result
	}
	t.Cleanup(func() { _ = stop() })
	return stop
}

func next(t *testing.T, from <-chan string) string {
	t.Helper()
	select {
	case text := <-from:
		return text
	case <-time.After(patience):
		t.Fatal("nothing came")
		return ""
	}
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// asADaemon sets the headers of a daemon's answer.
func asADaemon(w http.ResponseWriter) http.ResponseWriter {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("easyretry-time", "2026-03-01T12:00:00.000Z")
	return w
}

func handlerWorker(client *Client, options WorkerOptions, handler Handler, more ...HandlerOption) *Worker {
	if options.Logger == nil {
		options.Logger = quiet()
	}
	worker := NewWorker(client, options)
	worker.Handle("mail", handler, more...)
	return worker
}

func wantText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not contain %q", text, part)
		}
	}
}
