-- retry_member: instances that report that they are alive.

-- MySQL cannot write and read rows in one statement, but it can return one number: so a heartbeat asks whether the list
-- of members is still the one with {mark}. LAST_INSERT_ID() is then the time, and 0 if the list has changed. The mark of
-- a list is the XOR of a hash of each row. The hash of the asking instance's row leaves out `says`, which it knows.
--
-- A member that is back after it was taken for dead has joined again.
-- name: beat
INSERT INTO retry_member (namespace, node, since, alive_until, says)
SELECT {namespace}, {node}, {now}, {alive_until}, {says}
FROM (
  SELECT IF(
    (SELECT BIT_XOR(CAST(CONV(LEFT(SHA2(
        CONCAT_WS('\n', node, since, IF(node = {node}, '', says)), 256), 15), 16, 10) AS SIGNED))
      FROM retry_member WHERE namespace = {namespace} AND alive_until > {now}) = {mark},
    {now}, 0) AS answer) AS looked
ON DUPLICATE KEY UPDATE
  since = IF(alive_until <= VALUES(since), VALUES(since), since),
  alive_until = VALUES(alive_until) + 0 * LAST_INSERT_ID(looked.answer),
  says = VALUES(says);

-- All members, dead or alive, each with its part of the mark.
-- name: read_members
SELECT
  node, since, says, alive_until > {now},
  CAST(CONV(LEFT(SHA2(CONCAT_WS('\n', node, since, IF(node = {node}, '', says)), 256), 15), 16, 10) AS SIGNED),
  {now}
FROM retry_member
WHERE namespace = {namespace}
ORDER BY node;

-- The dead are removed one by one, each by its key: a range would also lock the gaps between them.
-- name: remove_dead
DELETE FROM retry_member WHERE namespace = {namespace} AND node = {node} AND alive_until <= {now};

-- name: leave
DELETE FROM retry_member WHERE namespace = {namespace} AND node = {node};

-- name: members
SELECT node, since, says
FROM retry_member
WHERE namespace = {namespace} AND alive_until > {now}
ORDER BY node;
