-- Another number of shards. {shard} is the shard of a row by its id: ((id >> 10) & 4095) % 64.

-- Of the rows after an id: how many there are, how many have another shard than they should, and the last id.
-- ?1 after this id, ?2 limit
-- name: shard_page
SELECT count(*), coalesce(sum(shard <> {shard}), 0), coalesce(max(id), 0)
FROM (SELECT id, shard FROM retry_state WHERE id > ?1 ORDER BY id LIMIT ?2);

-- ?1 after this id, ?2 up to this id
-- name: renumber
UPDATE retry_state SET shard = {shard} WHERE id > ?1 AND id <= ?2 AND shard <> {shard};
