package peerbench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"
)

const roleVariable = "PEER_ROLE"

// latencyOther sends tasks to a second process of this program, which runs them and reports.
func (b *bench) latencyOther() *Spread {
	child := exec.Command(os.Args[0], os.Args[1:]...)
	child.Env = append(os.Environ(), roleVariable+"=worker")
	child.Stderr = os.Stderr
	output, err := child.StdoutPipe()
	Must(err)
	Must(child.Start())
	lines := bufio.NewScanner(output)
	if !lines.Scan() {
		Must(fmt.Errorf("the other process has ended"))
	}
	time.Sleep(warmUp)
	b.send()
	if !lines.Scan() {
		Must(fmt.Errorf("the other process has ended"))
	}
	var s Spread
	Must(json.Unmarshal(lines.Bytes(), &s))
	Must(child.Wait())
	return &s
}

// beOtherProcess says that it is ready, runs all tasks, and prints how late they started.
func (b *bench) beOtherProcess() {
	b.peer.Work(b.run)
	fmt.Println("ready")
	until("all tasks have run", func() bool { return b.executed.Load() >= int64(b.tasks) })
	Must(json.NewEncoder(os.Stdout).Encode(b.late.spread()))
	os.Exit(0)
}
