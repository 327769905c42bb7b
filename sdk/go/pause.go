package easyretry

import (
	"context"
	"errors"
	"math/rand"
	"time"
)

const (
	firstPause   = 100 * time.Millisecond
	longestAfter = 5 * time.Minute // a Retry-After beyond it is cut: a wrong one must not stop a worker for a day
)

// pauses counts failures in a row. Half of a pause is random, so that workers that lost their daemon at the same moment do
// not come back at the same moment. Not for concurrent use.
type pauses struct {
	longest  time.Duration
	failures int
}

// next is the time until the next try: doubled each time, but not less than the daemon asks for.
func (p *pauses) next(err error) time.Duration {
	usual := min(p.longest, firstPause<<min(p.failures, 20))
	p.failures++
	pause := usual/2 + time.Duration(rand.Int63n(int64(usual/2)+1))
	var refusal *Refusal
	if errors.As(err, &refusal) && refusal.RetryAfter > 0 {
		after := min(refusal.RetryAfter, longestAfter)
		return max(pause, after+time.Duration(rand.Int63n(int64(after/10)+1)))
	}
	return pause
}

// sleep returns early, with false, when the context is done.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// mayPass tells whether the same request may succeed later: no answer, too many requests, or trouble in the daemon.
func mayPass(err error) bool {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return refusal.Status == 429 || refusal.Status >= 500
	}
	var unanswered *Unanswered
	return errors.As(err, &unanswered)
}

// changedNothing tells whether the request was certainly not carried out.
func changedNothing(err error) bool {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return refusal.Status < 500 || (refusal.Status == 503 && refusal.Code != "in_doubt")
	}
	var unanswered *Unanswered
	return errors.As(err, &unanswered) && !unanswered.Sent
}
