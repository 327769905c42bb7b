// Package peerbench measures a Go peer: PROGRAM WORK key=value… prints one JSON object.
//
// WORK is enqueue, drain, cycle, lateness, latency-own or latency-other; with PEER_ROLE=worker the program is the other process
// of latency-other.
package peerbench

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	warmUp   = 1500 * time.Millisecond // until idle workers wait for news
	ahead    = 5 * time.Second         // to store tasks before the first is due, and the setting ahead more for each
	patience = 10 * time.Minute
)

// Task is what a peer stores. From is when it was sent or due, in ms; Due is zero for at once.
type Task struct {
	ID    int       `json:"id"`
	From  float64   `json:"from,omitempty"`
	Fails bool      `json:"fails,omitempty"`
	Due   time.Time `json:"-"`
}

// Peer is implemented by each program.
type Peer interface {
	AddMany(tasks []Task)
	Add(task Task)
	Prepare()                                          // after tasks were stored; not timed
	Work(run func(task Task, firstAttempt bool) error) // starts to run tasks, and returns
	Left() bool                                        // whether tasks have not ended
}

// Description names a peer, and its settings with their defaults.
type Description struct {
	Name, Module string
	Defaults     Settings
	Open         func(Settings) Peer
}

type bench struct {
	Settings
	peer     Peer
	tasks    int
	executed atomic.Int64
	failures atomic.Int64
	late     samples
}

// Wall is the time in ms, with digits after the point.
func Wall() float64 { return float64(time.Now().UnixNano()) / 1e6 }

// Must ends the program if there is an error.
func Must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type firstFails struct{}

func (firstFails) Error() string { return "first attempt fails" }

func (b *bench) run(task Task, firstAttempt bool) error {
	if task.Fails && firstAttempt {
		b.failures.Add(1)
		return firstFails{}
	}
	if task.From > 0 {
		b.late.add(Wall() - task.From)
	}
	b.executed.Add(1)
	return nil
}

// enqueue stores all tasks in batches, several batches at once.
func (b *bench) enqueue(callers int, change func(*Task)) {
	size := b.Int("batch")
	inflight((b.tasks+size-1)/size, callers, func(part int) {
		tasks := make([]Task, 0, size)
		for id := part * size; id < min(b.tasks, (part+1)*size); id++ {
			task := Task{ID: id}
			change(&task)
			tasks = append(tasks, task)
		}
		b.peer.AddMany(tasks)
	})
}

func (b *bench) drain(change func(*Task)) time.Duration {
	b.enqueue(1, change)
	b.peer.Prepare()
	return timed(func() {
		b.peer.Work(b.run)
		b.finished()
	})
}

func (b *bench) finished() {
	until("all tasks have run", func() bool { return b.executed.Load() >= int64(b.tasks) })
	until("the store is empty", func() bool { return !b.peer.Left() })
}

func (b *bench) lateness() {
	first := time.Now().Add(ahead + time.Duration(b.tasks)*b.Millis("ahead"))
	step := time.Duration(b.Float("over") / float64(b.tasks) * 1e9)
	b.enqueue(1, func(task *Task) {
		task.Due = first.Add(step * time.Duration(task.ID))
		task.From = float64(task.Due.UnixNano()) / 1e6
	})
	if time.Now().After(first) {
		Must(errors.New("the first task was due before all were stored; raise ahead="))
	}
	b.peer.Work(b.run)
	b.finished()
}

// send sends one task after the other at the rate, without waiting for one before the next.
func (b *bench) send() {
	var sent sync.WaitGroup
	began := time.Now()
	for id := range b.tasks {
		time.Sleep(time.Until(began.Add(time.Duration(float64(id) / b.Float("rate") * 1e9))))
		task := Task{ID: id, From: Wall()}
		sent.Add(1)
		go func() { defer sent.Done(); b.peer.Add(task) }()
	}
	sent.Wait()
}

func (b *bench) latencyOwn() {
	b.peer.Work(b.run)
	time.Sleep(warmUp)
	b.send()
	b.finished()
}

// result is the line that the program prints.
type result struct {
	Peer     string  `json:"peer"`
	Version  string  `json:"version"`
	Work     string  `json:"work"`
	Tasks    int     `json:"tasks"`
	Seconds  float64 `json:"seconds,omitempty"`
	PerS     float64 `json:"per_s,omitempty"`
	LateMs   *Spread `json:"late_ms,omitempty"`
	Failures int64   `json:"failures"`
}

// Main is the main function of a peer's program.
func Main(d Description) {
	work, settings := readSettings(d.Defaults)
	b := &bench{Settings: settings, tasks: settings.Int("tasks")}
	b.peer = d.Open(settings)
	if os.Getenv(roleVariable) == "worker" {
		b.beOtherProcess()
	}
	r := result{Peer: d.Name, Version: version(d.Module), Work: work, Tasks: b.tasks}
	var took time.Duration
	switch work {
	case "enqueue":
		took = timed(func() { b.enqueue(b.Int("callers"), func(*Task) {}) })
	case "drain":
		took = b.drain(func(*Task) {})
	case "cycle":
		took = b.drain(func(task *Task) { task.Fails = true })
	case "lateness":
		b.lateness()
	case "latency-own":
		b.latencyOwn()
	case "latency-other":
		r.LateMs = b.latencyOther()
	default:
		fmt.Fprintln(os.Stderr, "unknown work:", work)
		os.Exit(2)
	}
	if took > 0 {
		r.Seconds, r.PerS = took.Seconds(), float64(b.tasks)/took.Seconds()
	} else if r.LateMs == nil {
		r.LateMs = b.late.spread()
	}
	r.Failures = b.failures.Load()
	Must(json.NewEncoder(os.Stdout).Encode(r))
	os.Exit(0) // stopping is not measured
}

func version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				return strings.TrimPrefix(dependency.Version, "v")
			}
		}
	}
	return "?"
}
