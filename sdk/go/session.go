package easyretry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// session is one Run of a worker.
type session struct {
	client     *Client
	handlers   map[string]registered
	options    WorkerOptions
	names      []string
	log        *slog.Logger
	holding    *holding
	settler    *settler
	background context.Context // until everything is settled
	unsettled  atomic.Int64
	line       *line // may be nil
}

const (
	gatherFor = 5 * time.Millisecond   // short handlers end together: one request for many instead of many for one
	endGrace  = time.Second            // from the cancellation of a handler until its task is handed back
	flushFor  = 10 * time.Second       // for the last outcomes
	soonest   = 100 * time.Millisecond // a daemon does not answer earlier that there is nothing, unless it stops
	lastPoll  = 2 * time.Second        // for the answer to a poll that the worker's stop ends
)

func newSession(w *Worker, background context.Context) *session {
	s := &session{client: w.client, handlers: w.handlers, options: w.options, names: w.names(), log: w.options.Logger,
		holding: newHolding(), background: background, line: w.client.connection.lineOf()}
	s.settler = &settler{session: s, alone: make(chan struct{}, mostAlone)}
	return s
}

func (s *session) leaseUntil(ctx context.Context) {
	if s.line != nil {
		defer s.line.client.CloseIdleConnections()
	}
	pauses := s.client.pauses()
	for {
		room := s.awaitRoom(ctx)
		if ctx.Err() != nil {
			return
		}
		sent := time.Now()
		tasks, err := s.lease(ctx, room)
		s.start(ctx, tasks)
		if err == nil && (len(tasks) > 0 || time.Since(sent) >= max(s.options.Wait/2, soonest)) {
			pauses.failures = 0
			continue
		}
		// Without an error, the daemon has answered at once that there is nothing: it stops.
		if err != nil && ctx.Err() == nil {
			s.log.Warn("no tasks can be leased; trying again", "error", err)
		}
		sleep(ctx, pauses.next(err))
	}
}

// room is how many tasks may be leased: not more than handlers may run, and not too many that wait to be settled.
func (s *session) room(running, leases int) int {
	return min(s.options.Concurrency-running, 2*s.options.Concurrency-leases)
}

func (s *session) awaitRoom(ctx context.Context) int {
	var gathered <-chan time.Time
	for {
		running, leases, changed := s.holding.counts()
		room := s.room(running, leases)
		if room > s.options.Concurrency/2 || ctx.Err() != nil {
			return room
		}
		if room > 0 && gathered == nil {
			timer := time.NewTimer(gatherFor)
			defer timer.Stop()
			gathered = timer.C
		}
		select {
		case <-changed:
		case <-gathered:
			if room > 0 {
				return room
			}
			gathered = nil
		case <-ctx.Done():
		}
	}
}

type leased struct {
	Task
	lasts time.Duration
}

func (s *session) lease(stopped context.Context, most int) ([]leased, error) {
	ctx, cut := context.WithCancel(s.background)
	defer cut()
	defer context.AfterFunc(stopped, func() { s.endPoll(cut) })()
	body, err := json.Marshal(map[string]any{"handlers": s.names, "max": most,
		"wait_ms": s.options.Wait.Milliseconds(), "lease_ms": s.options.Lease.Milliseconds()})
	if err != nil {
		return nil, err
	}
	var said struct{ Tasks []leased }
	answer, err := s.client.connection.ask(ctx, request{method: "POST", path: "/v1/leases", body: body, wait: s.options.Wait, line: s.line}, &said)
	if err != nil {
		return nil, err
	}
	for i := range said.Tasks {
		one := &said.Tasks[i]
		one.lasts = s.options.Lease
		// The daemon's two times are of one clock, so another clock here does not matter.
		if shorter := one.LeaseUntil.Sub(answer.now); !answer.now.IsZero() && shorter > 0 && shorter < one.lasts {
			one.lasts = shorter
		}
	}
	return said.Tasks, nil
}

func (s *session) endPoll(cut func()) {
	if s.line == nil {
		cut()
		return
	}
	s.line.hangUp()
	time.AfterFunc(lastPoll, cut)
}

// start runs the handlers. Tasks that came while the worker was stopped are handed back. A lease counts from its answer,
// because only the daemon knows when it was granted; the first renewal, at a third of it, makes up for a slow answer.
func (s *session) start(ctx context.Context, tasks []leased) {
	now := time.Now()
	for i := range tasks {
		task := &tasks[i].Task
		l := &lease{task: task, until: now.Add(tasks[i].lasts), renewAt: now.Add(tasks[i].lasts / 3)}
		l.ctx, l.cancel = context.WithCancelCause(s.background)
		task.report = l.report
		handler, known := s.handlers[task.Handler]
		if ctx.Err() != nil || !known {
			s.handBack(l, known)
			continue
		}
		l.inBatches = handler.inBatches
		s.holding.begin(l)
		go s.work(l, handler)
	}
}

func (s *session) handBack(l *lease, known bool) {
	if !known {
		s.log.Error("the daemon sent a task of a handler that this worker does not have", "task", l.task)
	}
	s.holding.add(l)
	l.end()
	s.settler.settle(s.background, settlement{l, "hand_back", nil})
}

func (s *session) work(l *lease, handler registered) {
	defer s.holding.stopRunning()
	defer l.cancel(nil)
	ctx := l.ctx
	if handler.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, handler.timeout, ErrTimeout)
		defer cancel()
		late := time.AfterFunc(handler.timeout+endGrace, func() {
			s.log.Error("a handler does not end; its place stays occupied", "task", l.task, "timeout", handler.timeout)
			s.ended(l, failed(fmt.Errorf("the handler of %s did not end within %s: %w", l.task.Handler, handler.timeout, ErrTimeout)))
		})
		defer late.Stop()
	}
	perform(ctx, handler.run, l.task, func(attempt Attempt) { s.ended(l, attempt) })
}

// ended settles the lease, once.
func (s *session) ended(l *lease, attempt Attempt) {
	before, first := l.end()
	if !first {
		return
	}
	if attempt.Err != nil {
		s.logFailure(l, attempt)
	} else if attempt.LeftOut != "" && !l.inBatches {
		s.log.Warn("a result is left out", "task", l.task, "why", attempt.LeftOut)
	}
	if one, needed := settlementOf(l, before, attempt); needed {
		s.settler.settle(s.background, one)
	} else {
		s.holding.forget(l)
	}
}

// logFailure gives the type of the error only: its text may quote arguments. The daemon gets the text.
func (s *session) logFailure(l *lease, attempt Attempt) {
	var panicked panicError
	if errors.As(attempt.Err, &panicked) {
		s.log.Error("a handler panicked", "task", l.task, "type", fmt.Sprintf("%T", panicked.thrown), "stack", string(panicked.stack))
		return
	}
	s.log.Info("an attempt failed", "task", l.task, "type", fmt.Sprintf("%T", attempt.Err), "give_up", attempt.GiveUp)
}

// drain waits for handlers, cancels those that take too long, and hands back what they leave.
func (s *session) drain() {
	none := func(running, leases int) bool { return leases == 0 }
	if s.holding.await(s.options.Drain, none) {
		return
	}
	for _, l := range s.holding.all() {
		if l.currentState() != ended {
			l.cancel(ErrStopping)
		}
	}
	s.holding.await(endGrace, none)
	for _, l := range s.holding.all() {
		if before, first := l.end(); first && before == held {
			s.log.Warn("a handler does not end; its task is handed back", "task", l.task)
			s.settler.settle(s.background, settlement{l, "hand_back", nil})
		} else if first {
			s.holding.forget(l)
		}
	}
	if !s.holding.await(flushFor, none) {
		s.unsettled.Add(int64(len(s.holding.all())))
	}
}
