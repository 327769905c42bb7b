// Package easyretrytest is a daemon in memory, for tests of code that submits tasks and of handlers. Tasks run when the
// test says so, in its goroutine; no time has to pass.
package easyretrytest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"easyretry"
)

// Fake keeps tasks in memory. Safe for concurrent use.
type Fake struct {
	mutex sync.Mutex
	tasks []*easyretry.Task // in the order of submission
}

func New() *Fake { return &Fake{} }

// Client submits to this fake. Get, Wait (without waiting), Cancel and Retry work, too.
func (f *Fake) Client() *easyretry.Client {
	client, err := easyretry.NewClient(easyretry.Options{URL: "http://localhost", Token: "fake", Transport: f, RetryFor: -1})
	if err != nil {
		panic(err)
	}
	return client
}

// Tasks returns copies of all tasks, with their arguments.
func (f *Fake) Tasks() []easyretry.Task {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	all := make([]easyretry.Task, len(f.tasks))
	for i, task := range f.tasks {
		all[i] = *task
	}
	return all
}

// RunNext runs the oldest live task with the worker's handler, whenever it is due. False: no task is left.
func (f *Fake) RunNext(ctx context.Context, worker *easyretry.Worker) (easyretry.Attempt, bool) {
	task := f.begin()
	if task == nil {
		return easyretry.Attempt{}, false
	}
	attempt := worker.Perform(ctx, task)
	f.mutex.Lock()
	defer f.mutex.Unlock()
	switch {
	case task.State == "finished": // cancelled meanwhile
	case attempt.Err == nil:
		task.Result = attempt.Result
		finish(task, "succeeded")
	default:
		task.LastError, task.State = attempt.Err.Error(), "pending"
		if attempt.GiveUp {
			finish(task, "rejected")
		}
	}
	return attempt, true
}

// RunAll runs tasks until none is left. A task whose attempts all fail ends as exhausted after this many.
func (f *Fake) RunAll(ctx context.Context, worker *easyretry.Worker, maxAttempts int) {
	for {
		if _, ran := f.RunNext(ctx, worker); !ran {
			return
		}
		f.mutex.Lock()
		for _, task := range f.tasks {
			if task.State == "pending" && task.Attempts >= maxAttempts {
				finish(task, "exhausted")
			}
		}
		f.mutex.Unlock()
	}
}

func (f *Fake) begin() *easyretry.Task {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, task := range f.tasks {
		if task.State == "pending" {
			task.State = "running"
			task.Attempts++
			task.Version++
			return task
		}
	}
	return nil
}

func finish(task *easyretry.Task, outcome string) {
	task.State, task.Outcome, task.FinishedAt = "finished", outcome, time.Now()
}

// RoundTrip answers the requests of a client.
func (f *Fake) RoundTrip(request *http.Request) (*http.Response, error) {
	var body []byte
	if request.Body != nil {
		body, _ = io.ReadAll(request.Body)
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	status, said := f.answer(request, body)
	text, err := json.Marshal(said)
	if err != nil {
		return nil, err
	}
	header := http.Header{"Content-Type": {"application/json"}, "Easyretry-Time": {time.Now().UTC().Format(time.RFC3339)}}
	return &http.Response{StatusCode: status, Status: strconv.Itoa(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(text)), Request: request}, nil
}

func (f *Fake) answer(request *http.Request, body []byte) (int, any) {
	if request.URL.Path == "/v1/tasks" && request.Method == "POST" {
		return f.store(body)
	}
	id, verb, _ := strings.Cut(strings.TrimPrefix(request.URL.Path, "/v1/tasks/"), "/")
	for _, task := range f.tasks {
		if task.ID == id {
			return change(task, verb)
		}
	}
	return problem(404, "not_found", "the fake has no task "+id)
}

func change(task *easyretry.Task, verb string) (int, any) {
	switch {
	case verb != "" && task.State == "finished":
		return problem(409, "ended", "the task has ended")
	case verb == "cancel":
		finish(task, "cancelled")
	case verb != "" && verb != "retry":
		return problem(404, "not_found", "the fake does not know "+verb)
	}
	shown := *task
	shown.Args = nil
	return 200, shown
}

type newTask struct {
	easyretry.Task
	OnDuplicate string `json:"on_duplicate"`
}

func (f *Fake) store(body []byte) (int, any) {
	var many struct{ Tasks []newTask }
	if json.Unmarshal(body, &many) == nil && many.Tasks != nil {
		all := make([]any, len(many.Tasks))
		for i := range many.Tasks {
			status, said := f.storeOne(&many.Tasks[i])
			if status >= 400 {
				return status, said
			}
			all[i] = said
		}
		return 201, map[string]any{"tasks": all}
	}
	var one newTask
	if err := json.Unmarshal(body, &one); err != nil {
		return problem(400, "bad_json", err.Error())
	}
	return f.storeOne(&one)
}

// storeOne keeps a live task that has the key, as a daemon does.
func (f *Fake) storeOne(wanted *newTask) (int, any) {
	task := wanted.Task
	if task.Key == "" {
		args, _ := json.Marshal(task.Args)
		task.Key = task.Handler + ":" + string(args)
	}
	for _, live := range f.tasks {
		if live.Key == task.Key && live.State != "finished" {
			if wanted.OnDuplicate == "reject" {
				return problem(409, "duplicate_key", "the key is live")
			}
			return 200, stored(live, false)
		}
	}
	task.ID = fmt.Sprint(9_100_000_000_000_000_001 + int64(len(f.tasks))) // more digits than a float has, as real ids
	task.State, task.Stage, task.Version, task.CreatedAt = "pending", "run", 1, time.Now()
	f.tasks = append(f.tasks, &task)
	return 201, stored(&task, true)
}

func stored(task *easyretry.Task, created bool) any {
	return easyretry.Stored{ID: task.ID, Key: task.Key, Created: created, Version: task.Version, NextAt: task.CreatedAt}
}

func problem(status int, code, message string) (int, any) {
	return status, map[string]any{"error": map[string]string{"code": code, "message": message}}
}
