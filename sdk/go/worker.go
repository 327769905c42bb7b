package easyretry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/signal"
	"sort"
	"syscall"
	"time"
)

// WorkerOptions: the zero value of a field means its default.
type WorkerOptions struct {
	Concurrency int           // handlers at once, and tasks in a lease request; default 10, at most 1000
	Lease       time.Duration // renewed when a third has passed; default 30 s
	Wait        time.Duration // how long a request waits for tasks; default 30 s, at most 60 s
	Drain       time.Duration // how long handlers may finish when the worker stops; default 20 s; negative: not at all
	Logger      *slog.Logger  // default: slog.Default(). Arguments, results and error texts of handlers are never logged
}

// Worker leases tasks and runs their handlers.
type Worker struct {
	client   *Client
	options  WorkerOptions
	handlers map[string]registered
}

// NewWorker panics if an option is impossible: that is a mistake in the program.
func NewWorker(client *Client, options WorkerOptions) *Worker {
	options.Concurrency = orElse(options.Concurrency, 10)
	options.Lease = orElse(options.Lease, 30*time.Second)
	options.Wait = orElse(options.Wait, 30*time.Second)
	options.Drain = orElse(options.Drain, 20*time.Second)
	options.Logger = orElse(options.Logger, slog.Default())
	switch {
	case client == nil:
		panic("easyretry: NewWorker needs a client")
	case options.Concurrency < 1 || options.Concurrency > 1000:
		panic("easyretry: Concurrency is 1 to 1000")
	case options.Lease < 500*time.Millisecond || options.Lease > 24*time.Hour:
		panic("easyretry: Lease is 500 ms to 24 h")
	case options.Wait < 0 || options.Wait > longestWait:
		panic("easyretry: Wait is 0 to 60 s")
	}
	return &Worker{client, options, map[string]registered{}}
}

// Handle sets the handler of tasks with this name. Call it before Run.
func (w *Worker) Handle(name string, handler Handler, options ...HandlerOption) {
	if name == "" || handler == nil {
		panic("easyretry: a handler needs a name and a function")
	}
	if _, known := w.handlers[name]; known {
		panic(fmt.Sprintf("easyretry: %s has a handler already", name))
	}
	one := registered{run: handler}
	for _, option := range options {
		option(&one)
	}
	w.handlers[name] = one
}

// Perform runs the handler of a task by hand, without a daemon: for tests.
func (w *Worker) Perform(ctx context.Context, task *Task) Attempt {
	handler, known := w.handlers[task.Handler]
	if !known {
		return failed(fmt.Errorf("no handler for %q", task.Handler))
	}
	ended := make(chan Attempt, 1)
	go perform(ctx, handler.run, task, func(attempt Attempt) { ended <- attempt })
	return <-ended
}

// Run works until the context is done; then it leases no more, lets handlers finish for Drain, and hands back the rest.
// It returns an error if outcomes could not be sent. A daemon that is away or refuses the token is logged and asked again.
func (w *Worker) Run(ctx context.Context) error {
	if len(w.handlers) == 0 {
		return errors.New("the worker has no handlers; call Handle before Run")
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	s := newSession(w, background)
	renewals := renewer{s, w.client.pauses()}
	go renewals.run(background)
	s.leaseUntil(ctx)
	s.drain()
	if unsettled := s.unsettled.Load(); unsettled > 0 {
		return fmt.Errorf("%d outcomes were not accepted by the daemon; these tasks run again when their leases have expired", unsettled)
	}
	return nil
}

// RunUntilSignal runs until the process gets SIGTERM or SIGINT.
func (w *Worker) RunUntilSignal() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	return w.Run(ctx)
}

func (w *Worker) names() []string {
	names := make([]string, 0, len(w.handlers))
	for name := range w.handlers {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
