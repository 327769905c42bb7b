package easyretry

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

const (
	mostTasksARequest = 10_000
	mostBytesARequest = 8<<20 - 64 // the daemon's limit, less the text around the tasks
)

// Submit stores one task. When it returns without an error, the task is stored. After an error, the same submission may
// be repeated: the key makes it one task.
func (c *Client) Submit(ctx context.Context, task NewTask) (Stored, error) {
	text, err := taskText(ctx, task)
	if err != nil {
		return Stored{}, err
	}
	if len(text) > mostBytesARequest {
		return Stored{}, tooLong(task, len(text))
	}
	var stored Stored
	err = c.submit(ctx, text, task.OnDuplicate == "reject", &stored)
	return stored, err
}

// SubmitAll stores many tasks in as few requests as possible: up to 10,000 tasks and 8 MiB are one request, and stored all
// or none. If a later request fails, the tasks before are stored: they are returned beside the error.
func (c *Client) SubmitAll(ctx context.Context, tasks []NewTask) ([]Stored, error) {
	batches, err := batchesOf(ctx, tasks)
	if err != nil {
		return nil, err
	}
	all := make([]Stored, 0, len(tasks))
	for _, batch := range batches {
		var stored struct{ Tasks []Stored }
		if err := c.submit(ctx, batch.body(), batch.rejects, &stored); err != nil {
			return all, fmt.Errorf("%d of %d tasks are stored: %w", len(all), len(tasks), err)
		}
		all = append(all, stored.Tasks...)
	}
	return all, nil
}

// submit repeats the request with one Idempotency-Key, by which the daemon recognizes it.
func (c *Client) submit(ctx context.Context, body []byte, rejects bool, into any) error {
	began, pauses, name := time.Now(), c.pauses(), randomName()
	for {
		said, err := c.connection.ask(ctx, request{method: "POST", path: "/v1/tasks", body: body, name: name}, into)
		if IsDuplicate(err) && pauses.failures > 0 && said.remember < time.Since(began) {
			return fmt.Errorf("it is in doubt whether the task was stored by the first request, whose answer was lost: %w", err)
		}
		if err == nil || !mayPass(err) {
			return err
		}
		if inDoubt(err) {
			if rejects { // a repetition could be refused because of this very task
				return err
			}
			name = randomName() // the daemon remembers the doubt under the old one
		}
		pause := pauses.next(err)
		if time.Since(began)+pause > c.retryFor || !sleep(ctx, pause) {
			return err
		}
	}
}

func inDoubt(err error) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && refusal.Code == "in_doubt"
}

type batch struct {
	texts   [][]byte
	bytes   int
	rejects bool
}

func (b *batch) body() []byte {
	return append(append([]byte(`{"tasks":[`), bytes.Join(b.texts, []byte{','})...), "]}"...)
}

func batchesOf(ctx context.Context, tasks []NewTask) ([]*batch, error) {
	var all []*batch
	last := &batch{bytes: mostBytesARequest}
	for i, task := range tasks {
		text, err := taskText(ctx, task)
		if err != nil {
			return nil, fmt.Errorf("task %d: %w", i+1, err)
		}
		if len(text) > mostBytesARequest {
			return nil, fmt.Errorf("task %d: %w", i+1, tooLong(task, len(text)))
		}
		if last.bytes+len(text)+1 > mostBytesARequest || len(last.texts) == mostTasksARequest {
			last = &batch{}
			all = append(all, last)
		}
		last.texts = append(last.texts, text)
		last.bytes += len(text) + 1
		last.rejects = last.rejects || task.OnDuplicate == "reject"
	}
	return all, nil
}

func taskText(ctx context.Context, task NewTask) ([]byte, error) {
	if task.Handler == "" {
		return nil, errors.New("the task has no Handler")
	}
	if task.Traceparent == "" {
		task.Traceparent = Traceparent(ctx)
	}
	text, err := json.Marshal(task)
	if err != nil {
		return nil, fmt.Errorf("the arguments for %s are not JSON: %w", task.Handler, err)
	}
	return text, nil
}

func tooLong(task NewTask, size int) error {
	return fmt.Errorf("a task for %s needs %d bytes, but a daemon accepts %d: store less with the task", task.Handler, size, mostBytesARequest)
}

func randomName() string {
	var bytes [16]byte
	if _, err := rand.Read(bytes[:]); err != nil {
		panic(err) // the system has no random numbers
	}
	return hex.EncodeToString(bytes[:])
}
