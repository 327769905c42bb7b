// The subject of the conformance suite (sdk/conformance): a worker and a client of this SDK, told what to do on standard
// input, that says on standard output what happens.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"easyretry"
)

var output sync.Mutex

type fields = map[string]any

func say(event string, more fields) {
	line := fields{"event": event}
	for name, value := range more {
		line[name] = value
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(text))
}

// logs turns warnings and errors of the SDK into lines.
type logs struct{}

func (logs) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }
func (l logs) WithAttrs([]slog.Attr) slog.Handler             { return l }
func (l logs) WithGroup(string) slog.Handler                  { return l }

func (logs) Handle(_ context.Context, record slog.Record) error {
	text := []string{record.Message}
	record.Attrs(func(one slog.Attr) bool {
		text = append(text, one.Key+"="+one.Value.Resolve().String())
		return true
	})
	say("error", fields{"text": strings.Join(text, " ")})
	return nil
}

func setting(name string) time.Duration {
	number, err := strconv.Atoi(os.Getenv("CONFORM_" + name))
	if err != nil {
		panic(err)
	}
	return time.Duration(number) * time.Millisecond
}

// orNone: a time of 0 is a setting here, while 0 in the options means the default.
func orNone(time time.Duration) time.Duration {
	if time == 0 {
		return -1
	}
	return time
}

type command struct {
	Do          string
	Tag         string
	Handler     string
	Key         string
	Args        []any
	Traceparent string
	Prefix      string
	Count       int
}

func (c command) tasks() []easyretry.NewTask {
	if c.Do == "submit" {
		return []easyretry.NewTask{{Handler: c.Handler, Key: c.Key, Args: c.Args, Traceparent: c.Traceparent}}
	}
	tasks := make([]easyretry.NewTask, c.Count)
	for i := range tasks {
		tasks[i] = easyretry.NewTask{Handler: c.Handler, Key: c.Prefix + strconv.Itoa(i), Args: []any{fields{}}}
	}
	return tasks
}

func submit(client *easyretry.Client, wanted command) {
	var stored []easyretry.Stored
	var err error
	if tasks := wanted.tasks(); wanted.Do == "submit" {
		stored = make([]easyretry.Stored, 1)
		stored[0], err = client.Submit(context.Background(), tasks[0])
	} else {
		stored, err = client.SubmitAll(context.Background(), tasks)
	}
	if err != nil {
		say("refused", fields{"tag": wanted.Tag, "text": err.Error()})
		return
	}
	ids := make([]string, len(stored))
	for i, one := range stored {
		ids[i] = one.ID
	}
	say("submitted", fields{"tag": wanted.Tag, "ids": ids})
}

func obey(client *easyretry.Client, stop func()) {
	defer stop()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var wanted command
		if err := json.Unmarshal(lines.Bytes(), &wanted); err != nil {
			panic("a command that is not JSON")
		}
		if wanted.Do == "stop" {
			return
		}
		go submit(client, wanted)
	}
}

func main() {
	client, err := easyretry.NewClient(easyretry.Options{RetryFor: setting("TIMEOUT_MS"), RequestTimeout: setting("TIMEOUT_MS"),
		LongestPause: setting("PAUSE_MS")})
	if err != nil {
		panic(err)
	}
	worker := easyretry.NewWorker(client, easyretry.WorkerOptions{Concurrency: int(setting("CONCURRENCY") / time.Millisecond),
		Lease: setting("LEASE_MS"), Wait: setting("WAIT_MS"), Drain: orNone(setting("DRAIN_MS")), Logger: slog.New(logs{})})
	register(worker, client)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go obey(client, stop)
	say("ready", nil)
	if err := worker.Run(ctx); err != nil {
		say("error", fields{"text": err.Error()})
	}
	say("stopped", nil)
}
