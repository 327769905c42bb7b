// Asynq on Redis. It has no call for many tasks, so many goroutines enqueue at once. Each server object fetches by one goroutine, hence
// several of them. A retry is due at once.
package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hibiken/asynq"
	bench "peerbench"
)

type peer struct {
	settings  bench.Settings
	client    *asynq.Client
	inspector *asynq.Inspector
}

func open(settings bench.Settings) bench.Peer {
	redis := asynq.RedisClientOpt{Addr: bench.StoreAddress(), PoolSize: settings.Int("connections")}
	return &peer{settings, asynq.NewClient(redis), asynq.NewInspector(redis)}
}

func (p *peer) Add(task bench.Task) {
	payload, err := json.Marshal(task)
	bench.Must(err)
	options := []asynq.Option{asynq.MaxRetry(3)}
	if !task.Due.IsZero() {
		options = append(options, asynq.ProcessAt(task.Due))
	}
	_, err = p.client.Enqueue(asynq.NewTask("noop", payload), options...)
	bench.Must(err)
}

// AddMany stores the tasks from many goroutines, because one would wait for each answer.
func (p *peer) AddMany(tasks []bench.Task) {
	done := make(chan struct{})
	next := make(chan bench.Task)
	callers := p.settings.Int("connections")
	for range callers {
		go func() {
			for task := range next {
				p.Add(task)
			}
			done <- struct{}{}
		}()
	}
	for _, task := range tasks {
		next <- task
	}
	close(next)
	for range callers {
		<-done
	}
}

func (p *peer) Prepare() {}

func (p *peer) Work(run func(bench.Task, bool) error) {
	handler := asynq.HandlerFunc(func(ctx context.Context, stored *asynq.Task) error {
		var task bench.Task
		bench.Must(json.Unmarshal(stored.Payload(), &task))
		retries, _ := asynq.GetRetryCount(ctx)
		return run(task, retries == 0)
	})
	for range p.settings.Int("servers") {
		server := asynq.NewServer(asynq.RedisClientOpt{Addr: bench.StoreAddress()}, asynq.Config{
			Concurrency: p.settings.Int("concurrency"), Logger: quiet{}, LogLevel: asynq.FatalLevel,
			TaskCheckInterval:        p.settings.Millis("check"),
			DelayedTaskCheckInterval: p.settings.Millis("delayed"),
			RetryDelayFunc:           func(int, error, *asynq.Task) time.Duration { return 0 },
		})
		bench.Must(server.Start(handler))
	}
}

func (p *peer) Left() bool {
	queue, err := p.inspector.GetQueueInfo("default")
	bench.Must(err)
	return queue.Pending+queue.Active+queue.Scheduled+queue.Retry > 0
}

type quiet struct{}

func (quiet) Debug(...any)       {}
func (quiet) Info(...any)        {}
func (quiet) Warn(...any)        {}
func (quiet) Error(...any)       {}
func (quiet) Fatal(words ...any) { panic(words) }

func main() {
	bench.Main(bench.Description{
		Name: "Asynq", Module: "github.com/hibiken/asynq", Open: open,
		Defaults: bench.Settings{"batch": "10000", "connections": "256", "servers": "4", "concurrency": "50", "check": "1", "delayed": "5"},
	})
}
