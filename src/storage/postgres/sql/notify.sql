-- News of due tasks. Every database has one channel, easyretry; the payload is the namespace. Documented: applications
-- may notify it themselves.

-- name: listen
LISTEN easyretry;

-- In a transaction of the application: listeners are notified when it commits. $1 namespace
-- name: announce
SELECT pg_notify('easyretry', $1);

-- {namespace} is a literal, so that several share a round trip.
-- name: notify
SELECT pg_notify('easyretry', {namespace});
