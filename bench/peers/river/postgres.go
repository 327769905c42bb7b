//go:build !sqlite

package main

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	bench "peerbench"
)

type client = river.Client[pgx.Tx]

type database struct {
	driver *riverpgxv5.Driver
	pool   *pgxpool.Pool
}

func openDatabase(settings bench.Settings) database {
	ctx := context.Background()
	config, err := pgxpool.ParseConfig(bench.StoreURL)
	bench.Must(err)
	config.MaxConns = int32(settings.Int("connections"))
	pool, err := pgxpool.NewWithConfig(ctx, config)
	bench.Must(err)
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New[pgx.Tx](driver, nil)
	bench.Must(err)
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	bench.Must(err)
	return database{driver, pool}
}

func (db database) Prepare() {
	_, err := db.pool.Exec(context.Background(), "analyze river_job")
	bench.Must(err)
}

func (db database) Left() (some bool) {
	bench.Must(db.pool.QueryRow(context.Background(), leftQuery).Scan(&some))
	return
}
