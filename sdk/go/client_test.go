package easyretry

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// answering is a server with one answer for all requests.
func answering(t *testing.T, answer http.HandlerFunc) string {
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server.URL
}

func submitTo(t *testing.T, options Options) error {
	options.RetryFor = -1
	_, err := clientOf(t, options).Submit(context.Background(), NewTask{Handler: "mail", Args: []any{"secret-argument"}})
	return err
}

func TestHTMLIsNotADaemon(t *testing.T) {
	err := submitTo(t, Options{URL: answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>welcome</html>")
	})})
	wantText(t, err.Error(), "is not an EasyRetry daemon of this version (HTTP 200)", "text/html")
}

func TestJSONOfAnotherServerIsNotADaemon(t *testing.T) {
	err := submitTo(t, Options{URL: answering(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"ok":true}`) })})
	wantText(t, err.Error(), "is not an EasyRetry daemon")
}

func TestAPageOfAProxyMayPass(t *testing.T) {
	err := submitTo(t, Options{URL: answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(502)
		fmt.Fprint(w, "<html>bad gateway</html>")
	})})
	wantText(t, err.Error(), "502", "proxy")
	if !mayPass(err) {
		t.Error("a bad gateway is not tried again")
	}
}

func TestAnAnswerThatIsCutIsInDoubt(t *testing.T) {
	err := submitTo(t, Options{URL: answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(asADaemon(w), `{"id":"91`)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})})
	var unanswered *Unanswered
	if !errors.As(err, &unanswered) || !unanswered.Sent {
		t.Fatalf("%v", err)
	}
	wantText(t, err.Error(), "was cut before the answer was complete")
}

func TestARedirectIsNotFollowed(t *testing.T) {
	var stolen atomic.Bool
	thief := answering(t, func(http.ResponseWriter, *http.Request) { stolen.Store(true) })
	err := submitTo(t, Options{URL: answering(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, thief, 307) })})
	wantText(t, err.Error(), "redirects to "+strings.TrimPrefix(thief, "http://"))
	if stolen.Load() {
		t.Error("the token was sent elsewhere")
	}
}

func TestAWrongCertificateIsNamed(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	server.Config.ErrorLog = nil
	wantText(t, submitTo(t, Options{URL: server.URL}).Error(), "the certificate of", "is not trusted", "CAFile")
	plain := answering(t, http.NotFound)
	wantText(t, submitTo(t, Options{URL: strings.Replace(plain, "http:", "https:", 1)}).Error(), "does not speak TLS")
}

func TestNoDaemonAtTheAddress(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	err = submitTo(t, Options{URL: "http://" + listener.Addr().String()})
	wantText(t, err.Error(), "no daemon answers at", "start it")
	if !changedNothing(err) {
		t.Error("nothing was sent")
	}
}

func TestARefusalSaysWhatToDo(t *testing.T) {
	err := submitTo(t, Options{URL: answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(401)
		fmt.Fprint(w, `{"error":{"code":"unauthorized","message":"the token is unknown","hint":"easyretry token create","request_id":"5f","new":1}}`)
	})})
	wantText(t, err.Error(), "401 unauthorized", "the token is unknown", "easyretry token create")
	if strings.Contains(err.Error(), "er_secret") {
		t.Error("the token is in the error")
	}
}

func TestATokenFileIsReadAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	write := func(token string) {
		if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old")
	url := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer new" {
			w.WriteHeader(401)
			fmt.Fprint(w, `{"error":{"code":"unauthorized","message":"expired"}}`)
			return
		}
		fmt.Fprint(asADaemon(w), `{"id":"1","created":true}`)
	})
	client := clientOf(t, Options{URL: url, TokenFile: file})
	if _, err := client.Submit(context.Background(), NewTask{Handler: "mail"}); !hasStatus(err, 401) {
		t.Fatalf("%v", err)
	}
	write("new")
	if _, err := client.Submit(context.Background(), NewTask{Handler: "mail"}); err != nil {
		t.Fatal(err)
	}
}

func TestTheTokenFileAndTheAuthorityMayComeFromTheEnvironment(t *testing.T) {
	var seen []string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization")) // one request at a time
		fmt.Fprint(asADaemon(w), `{"id":"1"}`)
	}))
	defer server.Close()
	folder := t.TempDir()
	write := func(name string, text []byte) string {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	ca := write("ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	ask := func(options Options) {
		t.Helper()
		options.URL, options.RetryFor = server.URL, -1
		client, err := NewClient(options)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Get(context.Background(), "1"); err != nil {
			t.Error(err)
		}
	}
	t.Setenv("EASYRETRY_TOKEN", "")
	t.Setenv("EASYRETRY_TOKEN_FILE", write("token", []byte("of-the-file\n")))
	t.Setenv("EASYRETRY_CA_FILE", "/none")
	ask(Options{CAFile: ca})
	t.Setenv("EASYRETRY_CA_FILE", ca)
	ask(Options{})
	t.Setenv("EASYRETRY_TOKEN", "of-the-variable")
	ask(Options{})
	ask(Options{Token: "given"})
	if want := []string{"Bearer of-the-file", "Bearer of-the-file", "Bearer of-the-variable", "Bearer given"}; !slices.Equal(seen, want) {
		t.Error(seen)
	}
	t.Setenv("EASYRETRY_CA_FILE", "/none")
	if _, err := NewClient(Options{URL: server.URL}); err == nil || !strings.Contains(err.Error(), "/none") {
		t.Error(err)
	}
}

func TestASubmissionHasItsClassAndWhatItsPolicyLeavesOutIsLeftOut(t *testing.T) {
	for _, one := range []struct {
		policy Policy
		sent   string
	}{
		{Policy{}, `{}`},
		{Policy{Backoff: "classic"}, `{"backoff":"classic"}`},
		{Policy{MaxAttempts: NoLimit, MaxDuration: NoLimit}, `{"max_attempts":0,"max_duration_ms":0}`},
		{Policy{MaxAttempts: 3, MaxDuration: time.Second}, `{"max_attempts":3,"max_duration_ms":1000}`},
		{Policy{MaxDuration: time.Microsecond}, `{"max_duration_ms":1}`},
	} {
		text, err := taskText(context.Background(), NewTask{Handler: "a", Class: "urgent", Policy: &one.policy})
		if want := `{"handler":"a","class":"urgent","policy":` + one.sent + `}`; err != nil || string(text) != want {
			t.Error(string(text), err)
		}
	}
}

func TestASubmissionIsRepeatedUnderItsName(t *testing.T) {
	var names []string
	answers := []func(http.ResponseWriter){
		func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		func(w http.ResponseWriter) { w.Header().Set("Retry-After", "0"); w.WriteHeader(429) },
		func(w http.ResponseWriter) {
			w.WriteHeader(503)
			fmt.Fprint(w, `{"error":{"code":"in_doubt","message":"?"}}`)
		},
		func(w http.ResponseWriter) { fmt.Fprint(asADaemon(w), `{"id":"910048318464253839","created":true}`) },
	}
	var number atomic.Int32
	url := answering(t, func(w http.ResponseWriter, r *http.Request) {
		names = append(names, r.Header.Get("Idempotency-Key")) // one request at a time
		answers[number.Add(1)-1](w)
	})
	stored, err := clientOf(t, Options{URL: url, RetryFor: patience}).Submit(context.Background(), NewTask{Handler: "mail"})
	if err != nil || stored.ID != "910048318464253839" {
		t.Fatal(stored, err)
	}
	// After in_doubt the daemon would repeat its doubt under the old name.
	if names[0] == "" || names[0] != names[1] || names[1] != names[2] || names[2] == names[3] {
		t.Error(names)
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	var times []time.Time
	url := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		times = append(times, time.Now())
		if len(times) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(429)
			return
		}
		fmt.Fprint(asADaemon(w), `{"id":"1"}`)
	})
	if _, err := clientOf(t, Options{URL: url}).Get(context.Background(), "1"); err != nil {
		t.Fatal(err)
	}
	if apart := times[1].Sub(times[0]); apart < time.Second {
		t.Error("asked again after", apart)
	}
}

func TestPausesGrowAndDiffer(t *testing.T) {
	different := map[time.Duration]bool{}
	for i := 0; i < 50; i++ {
		different[(&pauses{time.Second, 5}).next(nil)] = true
	}
	if len(different) < 10 {
		t.Error("the pauses are not random")
	}
	row := pauses{longest: time.Second}
	for i := 0; i < 100; i++ {
		if pause := row.next(nil); pause < firstPause/2 || pause > time.Second || (i > 3 && pause < time.Second/2) {
			t.Error(i, pause)
		}
	}
	if pause := row.next(&Refusal{RetryAfter: 24 * time.Hour}); pause > 2*longestAfter {
		t.Error("a wrong Retry-After stops the worker for", pause)
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	t.Setenv("EASYRETRY_TOKEN", "")
	for wrong, options := range map[string]Options{
		"use one like http://":    {URL: "127.0.0.1:7077", Token: "x"},
		"to another machine":      {URL: "http://example.com", Token: "x"},
		"leave them out":          {URL: "http://a:b@localhost", Token: "x"},
		"no token":                {},
		"not both":                {Token: "x", TokenFile: "y"},
		"TokenFile: /none cannot": {TokenFile: "/none"},
		"CAFile":                  {Token: "x", CAFile: "/none"},
	} {
		if _, err := NewClient(options); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

func TestLargeSubmissionsAreSeveralRequests(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	batches, err := batchesOf(context.Background(), []NewTask{{Handler: "a", Args: []any{long}}, {Handler: "a", Args: []any{long}}, {Handler: "a", Args: []any{long}}})
	if err != nil || len(batches) != 2 || len(batches[0].texts) != 2 {
		t.Fatal(len(batches), err)
	}
	_, err = batchesOf(context.Background(), []NewTask{{Handler: "a", Args: []any{strings.Repeat("x", 9<<20)}}})
	wantText(t, err.Error(), "task 1", "store less with the task")
	batches, err = batchesOf(context.Background(), make20k())
	if err != nil || len(batches) != 2 {
		t.Fatal(len(batches), err)
	}
}

func make20k() []NewTask {
	tasks := make([]NewTask, 20_000)
	for i := range tasks {
		tasks[i].Handler = "a"
	}
	return tasks
}

func TestArgumentsThatAreNotJSON(t *testing.T) {
	_, err := clientOf(t, Options{}).Submit(context.Background(), NewTask{Handler: "mail", Args: []any{make(chan int)}})
	wantText(t, err.Error(), "the arguments for mail are not JSON")
}
