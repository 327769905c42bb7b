// River on PostgreSQL or, with the build tag sqlite, on SQLite. Its fetch intervals are those of its own `river bench` unless told.
// Completed jobs stay in the table: it has no setting that removes them at once. A retry is due at once.
package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	bench "peerbench"
)

// args are stored with a job.
type args struct{ bench.Task }

func (args) Kind() string { return "noop" }

type worker struct {
	river.WorkerDefaults[args]
	run func(bench.Task, bool) error
}

func (w *worker) Work(_ context.Context, job *river.Job[args]) error {
	return w.run(job.Args.Task, job.Attempt == 1)
}

type atOnce struct{}

func (atOnce) NextRetry(*rivertype.JobRow) time.Time { return time.Now() }

type peer struct {
	database
	worker worker
	client *client
}

func open(settings bench.Settings) bench.Peer {
	p := &peer{database: openDatabase(settings)}
	workers := river.NewWorkers()
	river.AddWorker(workers, &p.worker)
	made, err := river.NewClient(p.driver, &river.Config{
		FetchCooldown: settings.Millis("cooldown"), FetchPollInterval: settings.Millis("poll"), RetryPolicy: atOnce{},
		Logger:  slog.New(slog.NewTextHandler(io.Discard, nil)), // it logs each failure
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: settings.Int("workers")}},
		Workers: workers,
	})
	bench.Must(err)
	p.client = made
	return p
}

func (p *peer) AddMany(tasks []bench.Task) {
	rows := make([]river.InsertManyParams, 0, len(tasks))
	for _, task := range tasks {
		row := river.InsertManyParams{Args: args{task}}
		if !task.Due.IsZero() {
			row.InsertOpts = &river.InsertOpts{ScheduledAt: task.Due}
		}
		rows = append(rows, row)
	}
	_, err := p.client.InsertManyFast(context.Background(), rows)
	bench.Must(err)
}

func (p *peer) Add(task bench.Task) {
	_, err := p.client.Insert(context.Background(), args{task}, nil)
	bench.Must(err)
}

func (p *peer) Work(run func(bench.Task, bool) error) {
	p.worker.run = run
	bench.Must(p.client.Start(context.Background()))
}

func main() {
	bench.Main(bench.Description{
		Name: "River", Module: "github.com/riverqueue/river", Open: open,
		Defaults: bench.Settings{"workers": "500", "cooldown": "2", "poll": "20", "connections": "10", "batch": "5000"},
	})
}

const leftQuery = "select exists (select 1 from river_job where state in ('available', 'running', 'retryable', 'scheduled'))"
