package easyretry

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"time"
)

// Task is a task as the daemon shows it. Fields that it does not show are zero.
type Task struct {
	ID           string            `json:"id"`
	Handler      string            `json:"handler"`
	Key          string            `json:"key"`
	Args         []json.RawMessage `json:"args"` // of a leased task; see Bind
	Attempts     int               `json:"attempts"`
	Version      int64             `json:"version"` // the fencing token of the lease
	State        string            `json:"state"`   // pending, running, finished
	Stage        string            `json:"stage"`
	Outcome      string            `json:"outcome"` // of a finished task: succeeded, exhausted, rejected, …
	LastError    string            `json:"last_error"`
	Progress     string            `json:"progress"`
	Result       json.RawMessage   `json:"result"`
	BusinessType string            `json:"business_type"`
	BusinessID   string            `json:"business_id"`
	Tags         []string          `json:"tags"`
	Traceparent  string            `json:"traceparent"`
	CreatedAt    time.Time         `json:"created_at"`
	NextAt       time.Time         `json:"next_at"`
	FinishedAt   time.Time         `json:"finished_at"`
	LeaseUntil   time.Time         `json:"lease_until"`

	report func(string) // nil without a lease
}

// Bind decodes the arguments, one into each target. It fails if there are fewer arguments, or of another type.
func (t *Task) Bind(targets ...any) error {
	if len(targets) > len(t.Args) {
		return fmt.Errorf("the task has %d arguments, and %d are wanted", len(t.Args), len(targets))
	}
	for i, target := range targets {
		if err := json.Unmarshal(t.Args[i], target); err != nil {
			return fmt.Errorf("argument %d: %w", i+1, err)
		}
	}
	return nil
}

// Report sets a note on progress, which people see beside the running task. It is sent with the next renewal, within
// about a second; of several notes, the last one counts. It does not block.
func (t *Task) Report(progress string) {
	if t.report != nil {
		t.report(progress)
	}
}

// LogValue leaves out arguments, key and result, which may be secrets.
func (t *Task) LogValue() slog.Value {
	return slog.GroupValue(slog.String("id", t.ID), slog.String("handler", t.Handler), slog.Int("attempt", t.Attempts))
}

// NewTask is a task to be stored. Only Handler is needed.
type NewTask struct {
	Handler      string        `json:"handler"`
	Args         []any         `json:"args,omitempty"`
	Key          string        `json:"key,omitempty"`          // one live task per key; empty: made of handler and arguments
	OnDuplicate  string        `json:"on_duplicate,omitempty"` // keep (default), update_policy, reject
	Class        string        `json:"class,omitempty"`        // who is served first: urgent, normal, background; default: as configured
	BusinessType string        `json:"business_type,omitempty"`
	BusinessID   string        `json:"business_id,omitempty"`
	Tags         []string      `json:"tags,omitempty"`
	Traceparent  string        `json:"traceparent,omitempty"` // empty: that of the context
	Delay        time.Duration `json:"-"`
	DueAt        time.Time     `json:"-"` // instead of Delay
	Deadline     time.Time     `json:"-"` // no attempt starts after it
	Policy       *Policy       `json:"policy,omitempty"`
}

// NoLimit as MaxAttempts or MaxDuration of a Policy is no limit, whatever is configured.
const NoLimit = -1

// Policy replaces what the daemon is configured with for the handler. A zero field stays as configured.
type Policy struct {
	MaxAttempts int
	MaxDuration time.Duration // rounded up to milliseconds
	Backoff     string        // such as "exponential first=1s factor=2 cap=15m jitter=1s"
}

func (p Policy) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		MaxAttempts   *int64 `json:"max_attempts,omitempty"`
		MaxDurationMS *int64 `json:"max_duration_ms,omitempty"`
		Backoff       string `json:"backoff,omitempty"`
	}{limitOf(int64(p.MaxAttempts), 1), limitOf(int64(p.MaxDuration), int64(time.Millisecond)), p.Backoff})
}

// limitOf is how the daemon wants a limit: none if it stays as configured, 0 for no limit.
func limitOf(limit, unit int64) *int64 {
	switch {
	case limit == 0:
		return nil
	case limit == NoLimit:
		limit = 0
	case limit > 0:
		limit = (limit-1)/unit + 1 // not down to 0, which is no limit
	} // the daemon refuses other negative ones
	return &limit
}

func (t NewTask) MarshalJSON() ([]byte, error) {
	type plain NewTask
	return json.Marshal(struct {
		plain
		DelayMS  int64  `json:"delay_ms,omitempty"`
		DueAt    string `json:"due_at,omitempty"`
		Deadline string `json:"deadline,omitempty"`
	}{plain(t), t.Delay.Milliseconds(), timeText(t.DueAt), timeText(t.Deadline)})
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// Stored says where a submitted task is.
type Stored struct {
	ID      string    `json:"id"`
	Key     string    `json:"key"`
	Created bool      `json:"created"` // false: ID is that of the live task that already had this key
	Version int64     `json:"version"`
	NextAt  time.Time `json:"next_at"`
}
