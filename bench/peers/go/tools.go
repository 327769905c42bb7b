package peerbench

import (
	"fmt"
	"math"
	"net/url"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// StoreURL is the store to measure.
var StoreURL = os.Getenv("STORE_URL")

// StoreAddress is the host and port of the store.
func StoreAddress() string {
	u, err := url.Parse(StoreURL)
	Must(err)
	return u.Host
}

// Settings are the key=value arguments.
type Settings map[string]string

func readSettings(defaults Settings) (string, Settings) {
	settings := Settings{"tasks": "1000", "rate": "200", "over": "20", "callers": "1", "batch": "1000", "ahead": "0.5"}
	for key, value := range defaults {
		settings[key] = value
	}
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "which work?")
		os.Exit(2)
	}
	for _, pair := range os.Args[2:] {
		key, value, _ := strings.Cut(pair, "=")
		settings[key] = value
	}
	return os.Args[1], settings
}

// Float is a setting as a number.
func (s Settings) Float(key string) float64 {
	number, err := strconv.ParseFloat(s[key], 64)
	if err != nil {
		Must(fmt.Errorf("%s is no number: %q", key, s[key]))
	}
	return number
}

// Int is a setting as a whole number.
func (s Settings) Int(key string) int { return int(s.Float(key)) }

// Millis is a setting in milliseconds.
func (s Settings) Millis(key string) time.Duration {
	return time.Duration(s.Float(key) * float64(time.Millisecond))
}

// Spread describes delays in ms.
type Spread struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

type samples struct {
	mutex  sync.Mutex
	values []float64
}

func (s *samples) add(value float64) {
	s.mutex.Lock()
	s.values = append(s.values, value)
	s.mutex.Unlock()
}

func (s *samples) spread() *Spread {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	sort.Float64s(s.values)
	at := func(part float64) float64 {
		i := min(int(part*float64(len(s.values))), len(s.values)-1)
		return math.Round(s.values[i]*1000) / 1000
	}
	return &Spread{at(0.5), at(0.99), at(1)}
}

func timed(work func()) time.Duration {
	began := time.Now()
	work()
	return time.Since(began)
}

func until(what string, done func() bool) {
	for end := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			Must(fmt.Errorf("too late: %s", what))
		}
	}
}

// inflight calls fn for 0 to total-1, several at once.
func inflight(total, callers int, fn func(i int)) {
	var running sync.WaitGroup
	next := make(chan int)
	for range callers {
		running.Add(1)
		go func() {
			defer running.Done()
			for i := range next {
				fn(i)
			}
		}()
	}
	for i := range total {
		next <- i
	}
	close(next)
	running.Wait()
}
