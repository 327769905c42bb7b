package easyretry

import (
	"errors"
	"fmt"
	"time"
)

// Causes of a cancelled handler: context.Cause(ctx) says which one.
var (
	// ErrLeaseLost: the task belongs to another worker now, or was cancelled. Stop; the outcome is not sent.
	ErrLeaseLost = errors.New("the lease of the task is lost")
	// ErrStopping: the worker stops, and the drain time is over. The task is handed back.
	ErrStopping = errors.New("the worker is stopping")
	// ErrTimeout: the handler has run for longer than its Timeout.
	ErrTimeout = errors.New("the handler has run for too long")
)

// Refusal is an answer of the daemon that refuses a request.
type Refusal struct {
	Status     int
	Code       string // such as "lease_lost"; a newer daemon may have codes that are not in the documents you know
	Message    string
	Hint       string        // what to do, if the daemon says it
	RequestID  string        // for the daemon's log
	RetryAfter time.Duration // 0: the daemon did not say when to try again
}

func (r *Refusal) Error() string {
	text := fmt.Sprintf("the daemon answered %d %s: %s", r.Status, r.Code, r.Message)
	if r.Hint != "" {
		text += " (" + r.Hint + ")"
	}
	return text
}

// Unanswered means that no answer came, or one that no daemon gives. If Sent, the request may have been carried out.
type Unanswered struct {
	URL  string
	Sent bool
	What string // a sentence for people
	Err  error  // may be nil
}

func (u *Unanswered) Error() string { return u.What }
func (u *Unanswered) Unwrap() error { return u.Err }

// IsNotFound tells whether there is no such task: wrong id, or it has ended and the store's history does not keep it.
func IsNotFound(err error) bool { return hasStatus(err, 404) }

// IsDuplicate tells whether the key was live and the submission had OnDuplicate "reject".
func IsDuplicate(err error) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && refusal.Code == "duplicate_key"
}

func hasStatus(err error, status int) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && refusal.Status == status
}

func isLeaseLost(err error) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && refusal.Code == "lease_lost"
}

// answerOfHandler is an error with which a handler decides about the next attempt.
type answerOfHandler struct {
	err    error
	giveUp bool
	after  time.Duration
}

func (a *answerOfHandler) Error() string { return a.err.Error() }
func (a *answerOfHandler) Unwrap() error { return a.err }

// GiveUp makes a final failure of a handler's error: no further attempt.
func GiveUp(err error) error { return &answerOfHandler{err: orUnnamed(err), giveUp: true} }

// RetryAfter makes an error after which the next attempt is due in this time, instead of what the policy says.
func RetryAfter(delay time.Duration, err error) error {
	return &answerOfHandler{err: orUnnamed(err), after: max(delay, 0)}
}

func orUnnamed(err error) error {
	if err == nil {
		return errors.New("failed without a message")
	}
	return err
}
