package easyretrytest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"easyretry"
	"easyretry/easyretrytest"
)

func TestTasksRunByHand(t *testing.T) {
	ctx := context.Background()
	fake := easyretrytest.New()
	client := fake.Client()
	worker := easyretry.NewWorker(client, easyretry.WorkerOptions{})
	tries := 0
	worker.Handle("mail", func(_ context.Context, task *easyretry.Task) (any, error) {
		var to string
		if err := task.Bind(&to); err != nil {
			return nil, easyretry.GiveUp(err)
		}
		if tries++; tries == 1 {
			return nil, easyretry.RetryAfter(time.Hour, errors.New("busy"))
		}
		return "sent to " + to, nil
	})
	stored, err := client.Submit(ctx, easyretry.NewTask{Handler: "mail", Args: []any{"ann"}, Delay: time.Hour})
	if err != nil || !stored.Created {
		t.Fatal(stored, err)
	}
	if again, err := client.Submit(ctx, easyretry.NewTask{Handler: "mail", Args: []any{"ann"}}); err != nil || again.Created || again.ID != stored.ID {
		t.Error("a live key is kept", again, err)
	}
	if attempt, ran := fake.RunNext(ctx, worker); !ran || attempt.RetryAfter != time.Hour {
		t.Error(attempt, ran)
	}
	if attempt, ran := fake.RunNext(ctx, worker); !ran || string(attempt.Result) != `"sent to ann"` {
		t.Error(attempt, ran)
	}
	if _, ran := fake.RunNext(ctx, worker); ran {
		t.Error("a finished task ran")
	}
	if task, err := client.Wait(ctx, stored.ID); err != nil || task.Outcome != "succeeded" || task.Attempts != 2 {
		t.Error(task, err)
	}
}

func TestEndsOfTasksInTheFake(t *testing.T) {
	ctx := context.Background()
	fake := easyretrytest.New()
	client := fake.Client()
	worker := easyretry.NewWorker(client, easyretry.WorkerOptions{})
	worker.Handle("never", func(context.Context, *easyretry.Task) (any, error) { return nil, errors.New("no") })
	worker.Handle("closed", func(context.Context, *easyretry.Task) (any, error) {
		return nil, easyretry.GiveUp(errors.New("closed"))
	})
	if _, err := client.SubmitAll(ctx, []easyretry.NewTask{{Handler: "never"}, {Handler: "closed"}, {Handler: "never", Key: "k"}, {Handler: "unknown"}}); err != nil {
		t.Fatal(err)
	}
	if err := client.Cancel(ctx, fake.Tasks()[2].ID); err != nil {
		t.Fatal(err)
	}
	fake.RunAll(ctx, worker, 3)
	for i, outcome := range []string{"exhausted", "rejected", "cancelled", "exhausted"} {
		if task := fake.Tasks()[i]; task.Outcome != outcome {
			t.Errorf("task %d: %s", i+1, task.Outcome)
		}
	}
	if _, err := client.Get(ctx, "1"); !easyretry.IsNotFound(err) {
		t.Error(err)
	}
	if _, err := client.Submit(ctx, easyretry.NewTask{Handler: "x", Key: "y", OnDuplicate: "reject"}); err != nil {
		t.Error(err)
	}
	if _, err := client.Submit(ctx, easyretry.NewTask{Handler: "x", Key: "y", OnDuplicate: "reject"}); !easyretry.IsDuplicate(err) {
		t.Error(err)
	}
}
