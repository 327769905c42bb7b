package easyretry

import (
	"sync"
	"time"
)

// holding counts the leases of a worker and the handlers that run. Safe for concurrent use.
type holding struct {
	mutex   sync.Mutex
	leases  map[*lease]struct{}
	running int
	changed chan struct{} // closed and replaced at each change
}

func newHolding() *holding {
	return &holding{leases: map[*lease]struct{}{}, changed: make(chan struct{})}
}

// change runs `do` under the lock and wakes those that wait.
func (h *holding) change(do func()) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	do()
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *holding) begin(l *lease)  { h.change(func() { h.leases[l] = struct{}{}; h.running++ }) }
func (h *holding) add(l *lease)    { h.change(func() { h.leases[l] = struct{}{} }) }
func (h *holding) forget(l *lease) { h.change(func() { delete(h.leases, l) }) }
func (h *holding) stopRunning()    { h.change(func() { h.running-- }) }

func (h *holding) all() []*lease {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	all := make([]*lease, 0, len(h.leases))
	for l := range h.leases {
		all = append(all, l)
	}
	return all
}

// counts returns the handlers that run, the tasks held, and a channel that is closed when these change.
func (h *holding) counts() (running, leases int, changed <-chan struct{}) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.running, len(h.leases), h.changed
}

// await waits until the counts are as wanted, or the time is over; it returns whether they are.
func (h *holding) await(limit time.Duration, wanted func(running, leases int) bool) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		running, leases, changed := h.counts()
		if wanted(running, leases) {
			return true
		}
		select {
		case <-changed:
		case <-timer.C:
			return false
		}
	}
}
