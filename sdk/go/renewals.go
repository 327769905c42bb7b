package easyretry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// renewer keeps the leases of a session, all in one request at a time.
type renewer struct {
	*session
	pauses pauses
}

const (
	renewalTick    = 100 * time.Millisecond
	mostInARequest = 1000
)

func (r *renewer) run(ctx context.Context) {
	tick := time.NewTicker(min(renewalTick, r.options.Lease/12))
	defer tick.Stop()
	for {
		if !r.awaitLeases(ctx) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := time.Now()
		var due []*lease
		for _, l := range r.holding.all() {
			if l.isOver(now) && l.lose(expired) {
				r.log.Warn("the lease could not be renewed in time; its handler is cancelled", "task", l.task)
			}
			if len(due) < mostInARequest && l.isDue(now) {
				due = append(due, l)
			}
		}
		if len(due) > 0 {
			r.renew(ctx, due)
		}
	}
}

// awaitLeases lets an idle worker sleep. False: the session is over.
func (r *renewer) awaitLeases(ctx context.Context) bool {
	for {
		_, leases, changed := r.holding.counts()
		if leases > 0 {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		}
	}
}

func (r *renewer) renew(ctx context.Context, due []*lease) {
	sent := time.Now()
	limit := r.options.Lease / 3
	wanted := make([]renewal, len(due))
	for i, l := range due {
		wanted[i] = l.renewal(r.options.Lease, sent)
		if left := l.left(sent); left > 0 {
			limit = min(limit, left) // its handler is cancelled in time, even if no answer comes
		}
	}
	applied, err := r.client.renewLeases(ctx, wanted, limit)
	if err != nil {
		again := time.Now().Add(min(r.pauses.next(err), r.options.Lease/6))
		for i, l := range due {
			l.notRenewed(again, wanted[i].Progress)
		}
		if ctx.Err() == nil {
			r.log.Warn("leases cannot be renewed; trying again", "tasks", len(due), "error", err)
		}
		return
	}
	r.pauses.failures = 0
	for i, l := range due {
		if applied[i] {
			l.renewed(sent, r.options.Lease)
		} else if l.lose(lost) {
			r.log.Warn("the lease is lost; its handler is cancelled", "task", l.task)
		} else {
			l.renewed(sent, r.options.Lease) // it has ended, and its settlement will tell
		}
	}
}

func (c *Client) renewLeases(ctx context.Context, wanted []renewal, limit time.Duration) ([]bool, error) {
	body, err := json.Marshal(map[string]any{"tasks": wanted})
	if err != nil {
		return nil, err
	}
	return c.apply(ctx, request{method: "POST", path: "/v1/leases/renew", body: body, limit: limit}, len(wanted))
}

// apply asks for a change of many leases.
func (c *Client) apply(ctx context.Context, r request, number int) ([]bool, error) {
	var said struct{ Applied []bool }
	if _, err := c.connection.ask(ctx, r, &said); err != nil {
		return nil, err
	}
	if len(said.Applied) != number {
		return nil, &Unanswered{URL: c.connection.url, Sent: true, Err: errors.New("another number of answers"),
			What: fmt.Sprintf("%s answered for %d of %d tasks", c.connection.url, len(said.Applied), number)}
	}
	return said.Applied, nil
}
