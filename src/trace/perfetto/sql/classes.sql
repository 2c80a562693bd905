-- TPUsight: where the time of each core went, and what its counters show.
INCLUDE PERFETTO MODULE tpusight.rows;

-- A slice may stand for several moments of its class that lie close together: own_ns is their time, events their number.
CREATE PERFETTO VIEW tpusight_classes AS
SELECT
  s.id,
  s.ts,
  s.dur,
  s.track_id,
  s.name,
  coalesce(extract_arg(s.arg_set_id, 'debug.own_ns'), extract_arg(s.arg_set_id, 'args.own_ns')) AS own_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.events'), extract_arg(s.arg_set_id, 'args.events')) AS events,
  r.device
FROM slice AS s
JOIN _tpusight_rows AS r ON r.track_id = s.track_id
WHERE
  s.category = 'tpusight'
  AND r.row_name = 'Time classes';

-- What the counters of devices show, with the time until the next value.
CREATE PERFETTO VIEW tpusight_counters AS
SELECT
  c.id,
  c.ts,
  lead(c.ts, 1, c.ts) OVER (PARTITION BY c.track_id ORDER BY c.ts) - c.ts AS dur,
  c.track_id,
  r.row_name AS name,
  c.value,
  r.device
FROM counter AS c
JOIN _tpusight_rows AS r ON r.track_id = c.track_id
WHERE
  r.device GLOB '*/device:*';
