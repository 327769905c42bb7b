package easyretry

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

// settler sends outcomes. Tasks handed back, and successes of handlers with InBatches, go in batches: what comes while one
// batch is on its way is the next one. The others go alone, a few at a time, because the daemon judges them: by
// `success_when`, and by the policy.
type settler struct {
	*session
	alone chan struct{} // holds a place for each single request in flight

	mutex   sync.Mutex
	waiting []settlement // for the next batch
	sending bool
}

const mostAlone = 16

type settlement struct {
	lease *lease
	kind  string // finish, hand_back: in a batch; done, fail: alone
	body  map[string]any
}

func (s *settler) settle(ctx context.Context, one settlement) {
	if one.kind == "done" || one.kind == "fail" {
		go s.sendAlone(ctx, one)
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.waiting = append(s.waiting, one)
	if !s.sending {
		s.sending = true
		go s.sendBatches(ctx)
	}
}

func (s *settler) next() []settlement {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	number := min(len(s.waiting), mostInARequest)
	batch := s.waiting[:number]
	s.waiting = s.waiting[number:]
	s.sending = number > 0
	return batch
}

func (s *settler) sendBatches(ctx context.Context) {
	for batch := s.next(); len(batch) > 0; batch = s.next() {
		s.sendBatch(ctx, batch)
	}
}

func (s *settler) sendBatch(ctx context.Context, batch []settlement) {
	tasks := make([]map[string]any, len(batch))
	for i, one := range batch {
		tasks[i] = map[string]any{"id": one.lease.task.ID, "version": one.lease.task.Version, "kind": one.kind}
	}
	body, _ := json.Marshal(map[string]any{"tasks": tasks})
	tries := 0
	err := s.untilAnswered(ctx, len(batch), func() error {
		tries++
		applied, err := s.client.apply(ctx, request{method: "POST", path: "/v1/leases/settle", body: body}, len(batch))
		for i, was := range applied {
			if !was {
				s.logLost(batch[i], tries)
			}
		}
		return err
	})
	for _, one := range batch {
		if err != nil {
			s.giveUp(one, err)
		}
		s.holding.forget(one.lease)
	}
}

func (s *settler) sendAlone(ctx context.Context, one settlement) {
	s.alone <- struct{}{}
	defer func() { <-s.alone }()
	tries := 0
	err := s.untilAnswered(ctx, 1, func() error {
		tries++
		return s.client.settleOne(ctx, one)
	})
	switch {
	case isLeaseLost(err):
		s.logLost(one, tries)
	case refusesTheBody(err): // it may be the result or the error text that the daemon does not take
		s.log.Warn("the result or error text was refused, and is left out", "task", one.lease.task, "error", err)
		s.sendBare(ctx, one)
	case err != nil:
		s.giveUp(one, err)
	}
	s.holding.forget(one.lease)
}

func (s *settler) sendBare(ctx context.Context, one settlement) {
	delete(one.body, "result")
	delete(one.body, "error")
	err := s.untilAnswered(ctx, 1, func() error { return s.client.settleOne(ctx, one) })
	if err != nil && !isLeaseLost(err) {
		s.giveUp(one, err)
	}
}

func refusesTheBody(err error) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && (refusal.Status == 400 || refusal.Status == 413 || refusal.Status == 422)
}

func (c *Client) settleOne(ctx context.Context, one settlement) error {
	one.body["version"] = one.lease.task.Version
	body, err := json.Marshal(one.body)
	if err != nil {
		return err
	}
	_, err = c.connection.ask(ctx, request{method: "POST", path: "/v1/leases/" + one.lease.task.ID + "/" + one.kind, body: body}, nil)
	return err
}

// untilAnswered repeats until the daemon has decided, because an outcome that is not sent means that the work is done
// again. Leases are renewed meanwhile. A refused token counts as no decision: it may be replaced.
func (s *settler) untilAnswered(ctx context.Context, tasks int, send func() error) error {
	pauses := s.client.pauses()
	for {
		err := send()
		if err == nil || !(mayPass(err) || isAboutTheToken(err)) || ctx.Err() != nil {
			return err
		}
		s.log.Warn("outcomes cannot be sent; trying again", "tasks", tasks, "error", err)
		if !sleep(ctx, pauses.next(err)) {
			return err
		}
	}
}

func isAboutTheToken(err error) bool { return hasStatus(err, 401) || hasStatus(err, 403) }

// logLost: after a repetition, the lease may be gone because the first request was carried out.
func (s *settler) logLost(one settlement, tries int) {
	if tries == 1 {
		s.log.Warn("the lease was lost before the outcome arrived; nothing was changed", "task", one.lease.task)
	}
}

func (s *settler) giveUp(one settlement, err error) {
	s.unsettled.Add(1)
	s.log.Error("an outcome was not accepted; the task runs again when its lease has expired", "task", one.lease.task, "error", err)
}

// settlementOf says what to send, or false if nothing may be sent.
func settlementOf(l *lease, before leaseState, attempt Attempt) (settlement, bool) {
	switch {
	case before == lost:
		return settlement{}, false
	case attempt.Err == nil && l.inBatches:
		return settlement{l, "finish", nil}, true
	case attempt.Err == nil && attempt.Result == nil:
		return settlement{l, "done", map[string]any{}}, true
	case attempt.Err == nil:
		return settlement{l, "done", map[string]any{"result": attempt.Result}}, true
	case before == expired: // the error is probably that of the cancelled context
		return settlement{}, false
	case errors.Is(context.Cause(l.ctx), ErrStopping):
		return settlement{l, "hand_back", nil}, true
	}
	body := map[string]any{"error": errorText(attempt.Err)}
	if attempt.GiveUp {
		body["give_up"] = true
	} else if attempt.RetryAfter >= 0 {
		body["retry_after_ms"] = min(attempt.RetryAfter, 10*365*24*time.Hour).Milliseconds()
	}
	return settlement{l, "fail", body}, true
}
