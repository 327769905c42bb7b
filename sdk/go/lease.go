package easyretry

import (
	"context"
	"sync"
	"time"
)

// lease is a task that this worker holds. It lasts until the outcome is settled, handed back or known to be lost.
type lease struct {
	task      *Task
	inBatches bool
	ctx       context.Context // of the handler
	cancel    context.CancelCauseFunc

	mutex      sync.Mutex
	until      time.Time // by this process's clock
	renewAt    time.Time
	progress   *string // not yet sent
	progressAt time.Time
	state      leaseState
}

type leaseState int

const (
	held    leaseState = iota
	expired            // not renewed in time; another worker may have the task, but the daemon decides
	lost               // the daemon said so
	ended              // its outcome waits to be settled
)

const progressApart = time.Second

func (l *lease) currentState() leaseState {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.state
}

// end marks the lease as ended, once. It returns the state before, and false if it had ended already.
func (l *lease) end() (leaseState, bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	before := l.state
	l.state = ended
	return before, before != ended
}

func (l *lease) report(progress string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.progress = &progress
}

// dueAt is when the lease has to be renewed: after a third of it, or earlier to send progress.
func (l *lease) dueAt() time.Time {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.progress != nil && l.state == held {
		if at := l.progressAt.Add(progressApart); at.Before(l.renewAt) {
			return at
		}
	}
	return l.renewAt
}

type renewal struct {
	ID       string  `json:"id"`
	Version  int64   `json:"version"`
	LeaseMS  int64   `json:"lease_ms"`
	Progress *string `json:"progress,omitempty"`
}

func (l *lease) renewal(length time.Duration, now time.Time) renewal {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	wanted := renewal{l.task.ID, l.task.Version, length.Milliseconds(), l.progress}
	if l.progress != nil {
		l.progress, l.progressAt = nil, now
	}
	return wanted
}

func (l *lease) renewed(from time.Time, length time.Duration) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.until, l.renewAt = from.Add(length), from.Add(length/3)
}

// notRenewed plans another try. Progress that was not sent is sent then, unless there is newer.
func (l *lease) notRenewed(tryAt time.Time, progress *string) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.renewAt = tryAt
	if l.progress == nil {
		l.progress = progress
	}
}

// lose cancels the handler. It returns false if there is nothing to lose.
func (l *lease) lose(to leaseState) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.state == ended || l.state == lost || l.state == to {
		return false
	}
	l.state = to
	l.cancel(ErrLeaseLost)
	return true
}

func (l *lease) left(now time.Time) time.Duration {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.until.Sub(now)
}

// isOver tells whether the lease has run out by this process's clock, while its handler runs.
func (l *lease) isOver(now time.Time) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.state == held && !now.Before(l.until)
}

// isDue tells whether to renew now. An outcome that waits to be settled still needs its lease.
func (l *lease) isDue(now time.Time) bool {
	state := l.currentState()
	return (state == held || state == ended) && !l.dueAt().After(now)
}
