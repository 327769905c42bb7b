#!lua flags=no-writes
-- Returns pending and processing of the topic, delayed, leased by us, dead letters, unreadable messages
return {redis.call('LLEN', PENDING), redis.call('LLEN', PROCESSING), redis.call('ZCARD', DELAYS), redis.call('HLEN', OWN),
  redis.call('LLEN', DLQ), redis.call('LLEN', ERRORS)}
