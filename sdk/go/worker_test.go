package easyretry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

type badError struct{}

func (badError) Error() string { panic("even this") }

func TestWhateverAHandlerDoesIsReported(t *testing.T) {
	for name, one := range map[string]struct {
		handler Handler
		wanted  []string
	}{
		"no result": {func(context.Context, *Task) (any, error) { return nil, nil }, []string{" done {\"version\":2}"}},
		"a result":  {func(context.Context, *Task) (any, error) { return map[string]int{"n": 1}, nil }, []string{" done ", `"result":{"n":1}`}},
		"an error":  {func(context.Context, *Task) (any, error) { return nil, errors.New("no route") }, []string{" fail ", `"error":"no route"`}},
		"give up":   {func(context.Context, *Task) (any, error) { return nil, GiveUp(errors.New("closed")) }, []string{`"give_up":true`, "closed"}},
		"retry after": {func(context.Context, *Task) (any, error) {
			return nil, fmt.Errorf("x: %w", RetryAfter(5*time.Second, nil))
		}, []string{`"retry_after_ms":5000`}},
		"a panic":       {func(context.Context, *Task) (any, error) { panic("boom") }, []string{" fail ", "panicked: boom"}},
		"a nil map":     {func(context.Context, *Task) (any, error) { var m map[string]int; m["x"] = 1; return nil, nil }, []string{" fail ", "assignment to entry in nil map"}},
		"Goexit":        {func(context.Context, *Task) (any, error) { runtime.Goexit(); return nil, nil }, []string{" fail ", "runtime.Goexit"}},
		"not JSON":      {func(context.Context, *Task) (any, error) { return make(chan int), nil }, []string{" done {\"version\":2}"}},
		"too long":      {func(context.Context, *Task) (any, error) { return strings.Repeat("x", 9<<20), nil }, []string{" done {\"version\":2}"}},
		"a bad error":   {func(context.Context, *Task) (any, error) { return nil, badError{} }, []string{" fail ", "whose Error method panics"}},
		"a long error":  {func(context.Context, *Task) (any, error) { return nil, errors.New(strings.Repeat("é", 9_000)) }, []string{" fail "}},
		"invalid UTF-8": {func(context.Context, *Task) (any, error) { return nil, errors.New("a\xff") }, []string{`"error":"a�"`}},
	} {
		t.Run(name, func(t *testing.T) {
			daemon := newScripted(t, taskJSON(1, "mail", `[{"to":"ann"}]`))
			stop := running(t, handlerWorker(daemon.client(t), WorkerOptions{}, one.handler))
			wantText(t, next(t, daemon.settled), append(one.wanted, "910048318464253101 ")...)
			if err := stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAnArgumentOfAnotherTypeIsAFinalFailure(t *testing.T) {
	var got []int
	handler := Typed(func(_ context.Context, n int) error { got = append(got, n); return nil })
	for text, wanted := range map[string]bool{`7`: false, `"seven"`: true} {
		if attempt := attemptOf(context.Background(), handler, &Task{Args: []json.RawMessage{json.RawMessage(text)}}); attempt.GiveUp != wanted {
			t.Error(text, attempt)
		}
	}
	if attempt := attemptOf(context.Background(), handler, &Task{}); !attempt.GiveUp || fmt.Sprint(got) != "[7]" {
		t.Error(attempt, got)
	}
}

func TestALeaseThatIsLostCancelsTheHandler(t *testing.T) {
	daemon := newScripted(t, taskJSON(1, "mail", `[]`))
	daemon.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/v1/leases/renew" {
			return false
		}
		fmt.Fprint(asADaemon(w), `{"applied":[false]}`)
		return true
	}
	causes := make(chan string, 1)
	stop := running(t, handlerWorker(daemon.client(t), WorkerOptions{Lease: time.Second}, func(ctx context.Context, _ *Task) (any, error) {
		<-ctx.Done()
		causes <- context.Cause(ctx).Error()
		return nil, ctx.Err()
	}))
	if cause := next(t, causes); cause != ErrLeaseLost.Error() {
		t.Error(cause)
	}
	if err := stop(); err != nil || len(daemon.settled) != 0 {
		t.Error("the outcome of a lost lease was sent", err)
	}
}

func TestALeaseThatCannotBeRenewedCancelsTheHandlerAndASuccessIsStillSent(t *testing.T) {
	daemon := newScripted(t, taskJSON(1, "mail", `[]`))
	daemon.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/v1/leases/renew" {
			return false
		}
		w.WriteHeader(503)
		return true
	}
	running(t, handlerWorker(daemon.client(t), WorkerOptions{Lease: time.Second}, func(ctx context.Context, _ *Task) (any, error) {
		<-ctx.Done() // and yet it succeeds
		return nil, nil
	}))
	wantText(t, next(t, daemon.settled), " done ")
}

func TestAnOutcomeIsSentAgainUntilTheDaemonAnswers(t *testing.T) {
	var refused atomic.Int32
	for _, faulty := range []func(http.ResponseWriter){
		func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		func(w http.ResponseWriter) { w.WriteHeader(500) },
		func(w http.ResponseWriter) { w.WriteHeader(401); fmt.Fprint(w, `{"error":{"code":"unauthorized"}}`) },
		func(w http.ResponseWriter) { fmt.Fprint(w, "<html>captive portal</html>") },
		func(w http.ResponseWriter) { fmt.Fprint(asADaemon(w), `{"applied":[]}`) },
	} {
		refused.Store(0)
		daemon := newScripted(t, taskJSON(1, "mail", `[]`))
		daemon.fault = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/v1/leases/settle" || refused.Add(1) > 2 { // of a handler with InBatches
				return false
			}
			faulty(w)
			return true
		}
		running(t, handlerWorker(daemon.client(t), WorkerOptions{}, func(context.Context, *Task) (any, error) { return nil, nil }, InBatches()))
		wantText(t, next(t, daemon.settled), " finish")
	}
}

func TestAResultThatIsRefusedIsLeftOut(t *testing.T) {
	var refused atomic.Bool
	daemon := newScripted(t, taskJSON(1, "mail", `[]`))
	daemon.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/done") || !refused.CompareAndSwap(false, true) {
			return false
		}
		w.WriteHeader(413)
		fmt.Fprint(w, `{"error":{"code":"too_long","message":"8 MiB at most"}}`)
		return true
	}
	running(t, handlerWorker(daemon.client(t), WorkerOptions{}, func(context.Context, *Task) (any, error) { return "long", nil }))
	wantText(t, next(t, daemon.settled), ` done {"version":2}`)
}

func TestAHandlerThatNeverEndsIsReportedAfterItsTimeout(t *testing.T) {
	daemon := newScripted(t, taskJSON(1, "mail", `[]`))
	forever := make(chan struct{})
	defer close(forever)
	stop := running(t, handlerWorker(daemon.client(t), WorkerOptions{}, func(context.Context, *Task) (any, error) {
		<-forever
		return nil, nil
	}, Timeout(50*time.Millisecond)))
	wantText(t, next(t, daemon.settled), " fail ", "did not end within 50ms")
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestAStopWaitsForHandlersAndHandsBackTheRest(t *testing.T) {
	daemon := newScripted(t, taskJSON(1, "mail", `["quick"]`), taskJSON(2, "mail", `["stuck"]`), taskJSON(3, "mail", `["obedient"]`))
	begun := make(chan string, 3)
	stopping, forever := make(chan struct{}), make(chan struct{})
	defer close(forever)
	stop := running(t, handlerWorker(daemon.client(t), WorkerOptions{Drain: time.Second}, func(ctx context.Context, task *Task) (any, error) {
		var kind string
		if err := task.Bind(&kind); err != nil {
			return nil, err
		}
		begun <- kind
		switch kind {
		case "quick":
			<-stopping
			return nil, nil
		case "obedient":
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		<-forever
		return nil, nil
	}))
	for i := 0; i < 3; i++ {
		next(t, begun)
	}
	close(stopping)
	if err := stop(); err != nil {
		t.Error(err)
	}
	kinds := map[string]string{}
	for i := 0; i < 3; i++ {
		words := strings.Fields(next(t, daemon.settled))
		kinds[words[0][len(words[0])-1:]] = words[1]
	}
	if fmt.Sprint(kinds) != "map[1:done 2:hand_back 3:hand_back]" {
		t.Error(kinds)
	}
}

func TestTasksThatAreOnTheirWayAtAStopAreHandedBack(t *testing.T) {
	daemon := newScripted(t)
	polled := make(chan string, 1)
	daemon.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/v1/leases" {
			return false
		}
		_, _ = io.ReadAll(r.Body) // only then the server looks whether the worker's side is closed
		polled <- r.URL.Path
		<-r.Context().Done()
		fmt.Fprintf(asADaemon(w), `{"tasks":[%s]}`, taskJSON(1, "mail", `[]`))
		return true
	}
	stop := running(t, handlerWorker(daemon.client(t), WorkerOptions{}, func(context.Context, *Task) (any, error) {
		t.Error("it ran")
		return nil, nil
	}))
	next(t, polled)
	if err := stop(); err != nil {
		t.Error(err)
	}
	if settled := next(t, daemon.settled); settled != "910048318464253101 hand_back" {
		t.Error(settled)
	}
}

func TestNoMoreHandlersRunThanAllowed(t *testing.T) {
	daemon := newScripted(t)
	for i := 0; i < 3; i++ { // a daemon that sends more than it was asked for is not expected: as many as asked
		daemon.tasks = append(daemon.tasks, taskJSON(i, "mail", `[]`))
	}
	var atOnce, most atomic.Int32
	var all sync.WaitGroup
	all.Add(3)
	running(t, handlerWorker(daemon.client(t), WorkerOptions{Concurrency: 3}, func(context.Context, *Task) (any, error) {
		now := atOnce.Add(1)
		defer atOnce.Add(-1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		all.Done()
		all.Wait()
		return nil, nil
	}))
	wantText(t, next(t, daemon.asked), `"max":3`)
	for i := 0; i < 3; i++ {
		next(t, daemon.settled)
	}
	if most.Load() != 3 {
		t.Error(most.Load())
	}
}

func TestATokenThatIsRefusedIsTriedAgain(t *testing.T) {
	daemon := newScripted(t, taskJSON(1, "mail", `[]`))
	var leases atomic.Int32
	daemon.fault = func(w http.ResponseWriter, r *http.Request) bool {
		if number := leases.Add(1); r.URL.Path == "/v1/leases" && number < 4 {
			w.WriteHeader(401)
			fmt.Fprint(w, `{"error":{"code":"unauthorized"}}`)
			return true
		}
		return false
	}
	running(t, handlerWorker(daemon.client(t), WorkerOptions{}, func(context.Context, *Task) (any, error) { return nil, nil }))
	next(t, daemon.settled)
}

func TestArgumentsAreNeverLogged(t *testing.T) {
	var log bytes.Buffer
	var mutex sync.Mutex
	logger := slog.New(slog.NewTextHandler(lockedWriter{&mutex, &log}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	daemon := newScripted(t, taskJSON(1, "mail", `["secret-argument"]`), taskJSON(2, "mail", `["secret-argument"]`), taskJSON(3, "other", `["secret-argument"]`))
	stop := running(t, handlerWorker(daemon.client(t), WorkerOptions{Logger: logger}, func(_ context.Context, task *Task) (any, error) {
		if strings.HasSuffix(task.ID, "1") {
			panic(string(task.Args[0]))
		}
		return nil, fmt.Errorf("cannot send %s", task.Args[0])
	}))
	for i := 0; i < 3; i++ {
		next(t, daemon.settled)
	}
	_ = stop()
	mutex.Lock()
	defer mutex.Unlock()
	wantText(t, log.String(), "910048318464253101", "910048318464253102", "handler that this worker does not have")
	if strings.Contains(log.String(), "secret-argument") || strings.Contains(log.String(), "er_secret") {
		t.Error(log.String())
	}
}

type lockedWriter struct {
	mutex *sync.Mutex
	into  *bytes.Buffer
}

func (l lockedWriter) Write(text []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.into.Write(text)
}

func TestATraceGoesInAndOut(t *testing.T) {
	const trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	ctx := WithTraceparent(context.Background(), trace)
	text, err := taskText(ctx, NewTask{Handler: "mail"})
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, string(text), `"traceparent":"`+trace+`"`)
	seen := make(chan Attempt, 1)
	perform(context.Background(), func(ctx context.Context, _ *Task) (any, error) { return Traceparent(ctx), nil },
		&Task{Traceparent: trace}, func(attempt Attempt) { seen <- attempt })
	if got := <-seen; string(got.Result) != `"`+trace+`"` {
		t.Error(string(got.Result))
	}
	if Traceparent(WithTraceparent(context.Background(), "nonsense")) != "" {
		t.Error("nonsense is passed on")
	}
}
