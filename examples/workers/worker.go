// A worker in Go, with the standard library only: leases tasks of "mail.send" from `easyretry serve` and settles them.
//
//	EASYRETRY_TOKEN=$(cat easyretry.tokens.first) go run worker.go http://127.0.0.1:7077
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

type task struct {
	ID      string `json:"id"`
	Version int64  `json:"version"`
	Args    []mail `json:"args"`
}

type mail struct {
	To string `json:"to"`
}

type object = map[string]any

var server = "http://127.0.0.1:7077"
var errLeaseLost = errors.New("the lease was lost")
var errNoMailbox = errors.New("no mailbox")

func post(path string, body object, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(http.MethodPost, server+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("EASYRETRY_TOKEN"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusConflict {
		return errLeaseLost
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s: %s", path, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

// Your own code. An error is a failed attempt, and the handler's policy decides on the next one.
func sendMail(order mail) (object, error) {
	if strings.HasPrefix(order.To, "nobody") {
		return nil, fmt.Errorf("%s: %w", order.To, errNoMailbox)
	}
	fmt.Println("mail to", order.To)
	return object{"sent": true}, nil
}

// While the work goes on, asks for a full lease again whenever a third of it has passed.
func renew(one task, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(10 * time.Second):
			post("/v1/leases/"+one.ID+"/renew", object{"version": one.Version, "lease_ms": 30_000}, &object{})
		}
	}
}

func work(one task) error {
	done := make(chan struct{})
	go renew(one, done)
	result, err := sendMail(one.Args[0])
	close(done)
	verb, body := "done", object{"version": one.Version, "result": result}
	if err != nil {
		verb, body = "fail", object{"version": one.Version, "error": err.Error(), "give_up": errors.Is(err, errNoMailbox)}
	}
	err = post("/v1/leases/"+one.ID+"/"+verb, body, &object{})
	if errors.Is(err, errLeaseLost) { // another worker has the task now, and nothing was changed
		return nil
	}
	return err
}

func main() {
	if len(os.Args) > 1 {
		server = os.Args[1]
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	for len(stop) == 0 {
		var leased struct{ Tasks []task }
		err := post("/v1/leases", object{"handlers": []string{"mail.send"}, "max": 1, "wait_ms": 5_000}, &leased)
		for i := 0; err == nil && i < len(leased.Tasks); i++ {
			err = work(leased.Tasks[i])
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "the server does not answer, trying again:", err)
			time.Sleep(time.Second)
		}
	}
}
