// The worker of bench/sdk.py for Go: submits tasks in batches, then runs them with a handler that does nothing.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"easyretry"
)

func number(name string) int {
	value, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		panic(err)
	}
	return value
}

func say(phase string, began time.Time) {
	fmt.Printf("{\"phase\": %q, \"seconds\": %f}\n", phase, time.Since(began).Seconds())
}

func main() {
	tasks, batch := number("BENCH_TASKS"), number("BENCH_BATCH")
	client := easyretry.MustClient(easyretry.Options{})
	began := time.Now()
	for first := 0; first < tasks; first += batch {
		some := make([]easyretry.NewTask, min(batch, tasks-first))
		for i := range some {
			some[i] = easyretry.NewTask{Handler: "bench.nothing", Args: []any{map[string]int{"n": first + i}}}
		}
		if _, err := client.SubmitAll(context.Background(), some); err != nil {
			panic(err)
		}
	}
	say("submit", began)

	began = time.Now()
	ctx, stop := context.WithCancel(context.Background())
	var done atomic.Int64
	worker := easyretry.NewWorker(client, easyretry.WorkerOptions{Concurrency: batch, Logger: slog.Default()})
	var options []easyretry.HandlerOption
	if os.Getenv("BENCH_SETTLE") == "batches" {
		options = append(options, easyretry.InBatches())
	}
	worker.Handle("bench.nothing", func(context.Context, *easyretry.Task) (any, error) {
		switch done.Add(1) {
		case int64(tasks):
			stop()
		case int64(tasks / 10):
			fmt.Println(`{"phase": "tenth"}`)
		}
		return nil, nil
	}, options...)
	if err := worker.Run(ctx); err != nil { // it settles the last ones
		panic(err)
	}
	say("drain", began)
}
