//go:build sqlite

package main

import (
	"context"
	"database/sql"
	"strings"

	_ "github.com/mattn/go-sqlite3"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	bench "peerbench"
)

type client = river.Client[*sql.Tx]

type database struct {
	driver *riversqlite.Driver
	pool   *sql.DB
}

// As River's documentation has it: a write-ahead log, and one connection. FULL makes each commit durable.
const options = "?_journal_mode=WAL&_busy_timeout=10000&_txlock=immediate&_synchronous=FULL"

func openDatabase(bench.Settings) database {
	pool, err := sql.Open("sqlite3", "file:"+strings.TrimPrefix(bench.StoreURL, "sqlite:")+options)
	bench.Must(err)
	pool.SetMaxOpenConns(1)
	driver := riversqlite.New(pool)
	migrator, err := rivermigrate.New[*sql.Tx](driver, nil)
	bench.Must(err)
	_, err = migrator.Migrate(context.Background(), rivermigrate.DirectionUp, nil)
	bench.Must(err)
	return database{driver, pool}
}

func (db database) Prepare() {
	_, err := db.pool.ExecContext(context.Background(), "analyze")
	bench.Must(err)
}

func (db database) Left() (some bool) {
	bench.Must(db.pool.QueryRowContext(context.Background(), leftQuery).Scan(&some))
	return
}
