package easyretry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// Handler runs a task. The context is cancelled when the lease is lost, the handler has run for too long, or the worker
// stops for good; then return soon. A result is sent to the daemon, for `success_when` and for those who wait; nil is no
// result. An error is a failed attempt: the policy decides on the next one, unless it is made by GiveUp or RetryAfter.
type Handler func(ctx context.Context, task *Task) (any, error)

// Typed makes a handler of a function with one argument and no result. An argument that does not fit is a final failure: it
// will not fit next time.
func Typed[T any](run func(ctx context.Context, argument T) error) Handler {
	return func(ctx context.Context, task *Task) (any, error) {
		var argument T
		if err := task.Bind(&argument); err != nil {
			return nil, GiveUp(err)
		}
		return nil, run(ctx, argument)
	}
}

// HandlerOption changes how one handler is run.
type HandlerOption func(*registered)

// InBatches settles successes many at a time, which is much faster. The daemon then does not judge them: its
// `success_when` and `keep_results` do not apply, and results are not sent.
func InBatches() HandlerOption { return func(r *registered) { r.inBatches = true } }

// Timeout cancels the handler after this time. If it does not end then, the attempt is reported as failed all the same.
func Timeout(limit time.Duration) HandlerOption { return func(r *registered) { r.timeout = limit } }

type registered struct {
	run       Handler
	inBatches bool
	timeout   time.Duration // 0: no limit
}

// Attempt is what became of one call of a handler.
type Attempt struct {
	Result     json.RawMessage // nil: none
	LeftOut    string          // why a result could not be sent, if so: the handler has succeeded all the same
	Err        error           // nil: it succeeded
	GiveUp     bool
	RetryAfter time.Duration // negative: the policy decides
}

func failed(err error) Attempt {
	attempt := Attempt{Err: err, RetryAfter: -1}
	var said *answerOfHandler
	if errors.As(err, &said) {
		attempt.GiveUp = said.giveUp
		if !said.giveUp {
			attempt.RetryAfter = said.after
		}
	}
	return attempt
}

// perform calls a handler in this goroutine and passes on what became of it, even if the handler ends the goroutine.
func perform(ctx context.Context, handler Handler, task *Task, ended func(Attempt)) {
	attempt := failed(fmt.Errorf("the handler of %s ended its goroutine (runtime.Goexit) instead of returning", task.Handler))
	defer func() { ended(attempt) }()
	attempt = attemptOf(ctx, handler, task)
}

func attemptOf(ctx context.Context, handler Handler, task *Task) (attempt Attempt) {
	defer func() {
		if thrown := recover(); thrown != nil {
			attempt = failed(panicError{task.Handler, thrown, debug.Stack()})
		}
	}()
	result, err := handler(WithTraceparent(ctx, task.Traceparent), task)
	if err != nil {
		return failed(err)
	}
	return succeeded(result)
}

const mostResultBytes = 8_000_000 // a request may have 8 MiB

// succeeded leaves out a result that cannot be sent. To fail instead would repeat work that is done.
func succeeded(result any) (attempt Attempt) {
	attempt = Attempt{RetryAfter: -1}
	if result == nil {
		return attempt
	}
	defer func() {
		if recover() != nil { // the value's own MarshalJSON panics
			attempt.LeftOut = fmt.Sprintf("its result, a %T, cannot be written as JSON", result)
		}
	}()
	text, err := json.Marshal(result)
	switch {
	case err != nil:
		attempt.LeftOut = fmt.Sprintf("its result, a %T, cannot be written as JSON", result)
	case len(text) > mostResultBytes:
		attempt.LeftOut = fmt.Sprintf("its result has %d bytes, more than a request may have", len(text))
	default:
		attempt.Result = text
	}
	return attempt
}

// panicError keeps the stack for the log; the daemon gets the text only.
type panicError struct {
	handler string
	thrown  any
	stack   []byte
}

func (p panicError) Error() (text string) {
	defer func() {
		if recover() != nil { // the value's own Error or String method panics
			text = fmt.Sprintf("the handler of %s panicked with a %T", p.handler, p.thrown)
		}
	}()
	return fmt.Sprintf("the handler of %s panicked: %v", p.handler, p.thrown)
}

func (p panicError) Unwrap() error {
	err, _ := p.thrown.(error)
	return err
}

const mostErrorBytes = 4096 // the daemon keeps as much

// errorText is sent to the daemon. An error whose method panics must not end the worker.
func errorText(err error) (text string) {
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("an error of type %T, whose Error method panics", err)
		}
	}()
	text = err.Error()
	if len(text) > mostErrorBytes {
		text = text[:mostErrorBytes-3] + "…"
	}
	if text == "" {
		text = fmt.Sprintf("an error of type %T without a text", err)
	}
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "�"), "�")
}
