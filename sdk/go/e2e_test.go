//go:build e2e

// With a real daemon: tests/e2e/sdk_test.py starts one, and sets EASYRETRY_URL, EASYRETRY_TOKEN and SUBMITTER_TOKEN.
package easyretry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func daemonClient(t *testing.T) *Client {
	return clientOf(t, Options{Token: os.Getenv("EASYRETRY_TOKEN")})
}

func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func submitted(t *testing.T, client *Client, task NewTask) string {
	t.Helper()
	stored, err := client.Submit(patient(t), task)
	if err != nil {
		t.Fatal(err)
	}
	return stored.ID
}

func atEnd(t *testing.T, client *Client, id string) *Task {
	t.Helper()
	task, err := client.Wait(patient(t), id)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// serving runs one handler under a name of its own.
func serving(t *testing.T, client *Client, name string, handler Handler, options ...HandlerOption) {
	worker := NewWorker(client, WorkerOptions{Logger: quiet(), Concurrency: 100, Lease: 2 * time.Second})
	worker.Handle(name, handler, options...)
	running(t, worker)
}

func TestWithADaemonAResultReachesTheCaller(t *testing.T) {
	client := daemonClient(t)
	serving(t, client, "kept", func(_ context.Context, task *Task) (any, error) {
		var n int64
		err := task.Bind(&n)
		return map[string]int64{"n": n}, err
	})
	id := submitted(t, client, NewTask{Handler: "kept", Args: []any{int64(9007199254740993)}})
	if task := atEnd(t, client, id); task.Outcome != "succeeded" || string(task.Result) != `{"n":9007199254740993}` {
		t.Error(task.Outcome, string(task.Result))
	}
	submitter := clientOf(t, Options{Token: os.Getenv("SUBMITTER_TOKEN")})
	if task := atEnd(t, submitter, id); task.Outcome != "succeeded" || task.Result != nil {
		t.Error("a token that may not see results", task.Outcome, string(task.Result))
	}
}

func TestWithADaemonFailuresFollowThePolicyUnlessTheHandlerDecides(t *testing.T) {
	client := daemonClient(t)
	serving(t, client, "failing", func(_ context.Context, task *Task) (any, error) {
		switch {
		case task.Key == "closed":
			return nil, GiveUp(errors.New("the account is closed"))
		case task.Key == "busy" && task.Attempts == 1:
			return nil, RetryAfter(10*time.Millisecond, errors.New("busy"))
		case task.Key == "busy":
			return nil, nil
		}
		return nil, errors.New("no route")
	})
	policy := &Policy{MaxAttempts: 2, Backoff: "fixed delay=10ms jitter=none", MaxDuration: time.Hour}
	for key, wanted := range map[string]string{"closed": "rejected 1", "busy": "succeeded 2", "never": "exhausted 2"} {
		id := submitted(t, client, NewTask{Handler: "failing", Key: key, Policy: policy})
		if task := atEnd(t, client, id); fmt.Sprint(task.Outcome, " ", task.Attempts) != wanted {
			t.Error(key, task.Outcome, task.Attempts, task.LastError)
		}
	}
}

func TestWithADaemonACancelledTaskCancelsItsHandler(t *testing.T) {
	client := daemonClient(t)
	began, causes := make(chan string, 1), make(chan string, 1)
	serving(t, client, "long", func(ctx context.Context, task *Task) (any, error) {
		began <- task.ID
		<-ctx.Done()
		causes <- context.Cause(ctx).Error()
		return nil, ctx.Err()
	})
	id := submitted(t, client, NewTask{Handler: "long"})
	next(t, began)
	if err := client.Cancel(patient(t), id); err != nil {
		t.Fatal(err)
	}
	if cause := next(t, causes); cause != ErrLeaseLost.Error() {
		t.Error(cause)
	}
	if task := atEnd(t, client, id); task.Outcome != "cancelled" {
		t.Error(task.Outcome)
	}
}

func TestWithADaemonATaskIsRetriedNow(t *testing.T) {
	client := daemonClient(t)
	serving(t, client, "later", func(context.Context, *Task) (any, error) { return nil, nil })
	id := submitted(t, client, NewTask{Handler: "later", Delay: time.Hour, Tags: []string{"vip"}, Deadline: time.Now().Add(24 * time.Hour)})
	if task, err := client.Get(patient(t), id); err != nil || task.State != "pending" {
		t.Fatal(task, err)
	}
	if err := client.Retry(patient(t), id); err != nil {
		t.Fatal(err)
	}
	if task := atEnd(t, client, id); task.Outcome != "succeeded" {
		t.Error(task.Outcome)
	}
}

func TestWithADaemonManyTasksInBatches(t *testing.T) {
	client := daemonClient(t)
	var ran atomic.Int32
	serving(t, client, "many", func(context.Context, *Task) (any, error) { ran.Add(1); return nil, nil }, InBatches())
	tasks := make([]NewTask, 1000)
	for i := range tasks {
		tasks[i] = NewTask{Handler: "many", Args: []any{i}}
	}
	stored, err := client.SubmitAll(patient(t), tasks)
	if err != nil || len(stored) != len(tasks) {
		t.Fatal(len(stored), err)
	}
	for _, one := range stored {
		if task := atEnd(t, client, one.ID); task.Outcome != "succeeded" {
			t.Fatal(task.Outcome)
		}
	}
	if ran.Load() != 1000 {
		t.Error(ran.Load())
	}
}

func TestWithADaemonTheDaemonJudgesResults(t *testing.T) {
	client := daemonClient(t)
	serving(t, client, "judged", func(_ context.Context, task *Task) (any, error) { return map[string]bool{"ok": task.Attempts > 1}, nil })
	id := submitted(t, client, NewTask{Handler: "judged", Policy: &Policy{MaxAttempts: 3, Backoff: "fixed delay=10ms jitter=none"}})
	if task := atEnd(t, client, id); task.Outcome != "succeeded" || task.Attempts != 2 {
		t.Error(task.Outcome, task.Attempts)
	}
}

func TestWithADaemonWhatAPolicyLeavesOutIsAsConfigured(t *testing.T) {
	client := daemonClient(t)
	limitsOf := func(policy *Policy) string {
		var shown struct{ Policy json.RawMessage }
		id := submitted(t, client, NewTask{Handler: "unserved", Key: fmt.Sprint(policy), Policy: policy, Class: "background"})
		if _, err := client.connection.ask(patient(t), request{method: "GET", path: taskPath(id, "")}, &shown); err != nil {
			t.Fatal(err)
		}
		return string(shown.Policy)
	}
	configured := limitsOf(nil)
	if strings.Contains(configured, `"max_attempts":0`) {
		t.Fatal(configured)
	}
	if said := limitsOf(&Policy{MaxDuration: time.Hour}); said != strings.Replace(configured, `"max_duration_ms":0`, `"max_duration_ms":3600000`, 1) {
		t.Error(said)
	}
	if said := limitsOf(&Policy{MaxAttempts: NoLimit}); !strings.Contains(said, `"max_attempts":0`) {
		t.Error(said)
	}
}

func TestWithADaemonADuplicateIsRejectedByTheDaemon(t *testing.T) {
	client := daemonClient(t)
	wanted := NewTask{Handler: "unserved", Key: "once", OnDuplicate: "reject"}
	submitted(t, client, wanted)
	if _, err := client.Submit(patient(t), wanted); !IsDuplicate(err) {
		t.Error(err)
	}
	if _, err := client.Get(patient(t), "1"); !IsNotFound(err) {
		t.Error(err)
	}
}
