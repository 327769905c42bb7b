package easyretry

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
)

// line is the connection of a worker's long polls. If it were closed when the worker stops, tasks that are on their way would
// wait until their leases have expired. So only our side stops sending: the daemon answers the poll at once, and tasks that
// it has already lent arrive.
type line struct {
	client *http.Client

	mutex  sync.Mutex
	open   net.Conn // guarded by mutex; the last one that was dialled
	hungUp bool     // guarded by mutex
}

// lineOf returns nil for a transport that is not ours: its polls can only be cut.
func (c *connection) lineOf() *line {
	transport, ours := c.http.Transport.(*http.Transport)
	if !ours {
		return nil
	}
	l := &line{}
	own := transport.Clone()
	own.ForceAttemptHTTP2 = false
	dial := own.DialContext
	own.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		opened, err := dial(ctx, network, address)
		if err == nil && !l.keep(opened) {
			opened.Close()
			return nil, errors.New("the worker is stopping")
		}
		return opened, err
	}
	l.client = &http.Client{Transport: own, CheckRedirect: c.http.CheckRedirect}
	return l
}

func (l *line) keep(opened net.Conn) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.open = opened
	return !l.hungUp
}

func (l *line) hangUp() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.hungUp = true
	if half, can := l.open.(interface{ CloseWrite() error }); can {
		_ = half.CloseWrite() // it may be closed already
	}
}
