package main

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"strings"
	"time"

	"easyretry"
)

type argument struct {
	MS     int64           `json:"ms"`
	What   string          `json:"what"`
	Result json.RawMessage `json:"result"`
}

type handler func(ctx context.Context, task *easyretry.Task, given argument) (any, error)

func register(worker *easyretry.Worker, client *easyretry.Client) {
	add := func(name string, run handler, options ...easyretry.HandlerOption) {
		worker.Handle("conform."+name, told(run), options...)
	}
	add("ok", func(_ context.Context, task *easyretry.Task, _ argument) (any, error) {
		return fields{"ok": true, "given": task.Args[0]}, nil
	})
	add("none", nothing)
	add("batched", nothing, easyretry.InBatches())
	add("fail", fail)
	add("fail_once", atFirst(fail))
	add("slow", slow)
	add("never", func(context.Context, *easyretry.Task, argument) (any, error) { select {} })
	add("give_up", func(context.Context, *easyretry.Task, argument) (any, error) {
		return nil, easyretry.GiveUp(errors.New("no mailbox"))
	})
	add("retry_after", atFirst(func(_ context.Context, _ *easyretry.Task, given argument) (any, error) {
		return nil, easyretry.RetryAfter(time.Duration(given.MS)*time.Millisecond, errors.New("busy"))
	}))
	add("progress", func(ctx context.Context, task *easyretry.Task, given argument) (any, error) {
		task.Report("half")
		return slow(ctx, task, given)
	})
	add("trace", func(ctx context.Context, task *easyretry.Task, _ argument) (any, error) {
		say("trace", fields{"key": task.Key, "traceparent": easyretry.Traceparent(ctx)})
		_, err := client.Submit(ctx, easyretry.NewTask{Handler: "conform.none", Key: "child", Args: []any{fields{}}})
		return nil, err
	})
	add("judged", func(_ context.Context, _ *easyretry.Task, given argument) (any, error) { return given.Result, nil })
	add("throws", func(_ context.Context, _ *easyretry.Task, given argument) (any, error) {
		return nil, thrown(given.What)
	})
	add("returns", func(_ context.Context, _ *easyretry.Task, given argument) (any, error) {
		return returned(given.What), nil
	})
}

// told says when a handler begins and ends.
func told(run handler) easyretry.Handler {
	return func(ctx context.Context, task *easyretry.Task) (any, error) {
		about := fields{"key": task.Key, "attempt": task.Attempts}
		say("begin", fields{"handler": task.Handler, "id": task.ID, "key": task.Key, "attempt": task.Attempts})
		defer say("end", about)
		var given argument
		if err := task.Bind(&given); err != nil {
			return nil, easyretry.GiveUp(err)
		}
		return run(ctx, task, given)
	}
}

func nothing(context.Context, *easyretry.Task, argument) (any, error) { return nil, nil }

func fail(context.Context, *easyretry.Task, argument) (any, error) {
	return nil, errors.New("told to fail")
}

func atFirst(run handler) handler {
	return func(ctx context.Context, task *easyretry.Task, given argument) (any, error) {
		if task.Attempts > 1 {
			return nil, nil
		}
		return run(ctx, task, given)
	}
}

func slow(ctx context.Context, task *easyretry.Task, given argument) (any, error) {
	select {
	case <-time.After(time.Duration(given.MS) * time.Millisecond):
		return nil, nil
	case <-ctx.Done():
		say("cancelled", fields{"key": task.Key, "attempt": task.Attempts})
		return nil, context.Cause(ctx)
	}
}

type untold struct{}

func (untold) Error() string { panic("its text cannot be made") }

func thrown(what string) error {
	switch what {
	case "stranger":
		runtime.Goexit()
	case "empty":
		return errors.New("")
	case "nul":
		return errors.New("a\x00b")
	case "broken":
		return errors.New("a\xff\xfeb")
	case "long":
		return errors.New(strings.Repeat("x", 9<<20))
	case "untold":
		return untold{}
	}
	panic(42)
}

type cycle struct{ Itself *cycle }

func returned(what string) any {
	switch what {
	case "nan":
		return math.NaN()
	case "cycle":
		one := &cycle{}
		one.Itself = one
		return one
	case "broken":
		return "a\xff\xfeb"
	case "huge":
		return strings.Repeat("x", 9<<20)
	case "whole":
		return map[string]int64{"n": 9007199254740993}
	}
	return make(chan int)
}
