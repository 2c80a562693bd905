-- TPUsight: the longest gaps of the report, and what hosts did in them.
INCLUDE PERFETTO MODULE tpusight.rows;

-- A time in which a device had nothing to run: the class that most of it has, the event of the host that it passed in, the thread of
-- that, and the event that ended it. An arrow leads to it from the host's event.
CREATE PERFETTO VIEW tpusight_gaps AS
SELECT
  s.id,
  s.ts,
  s.dur,
  s.track_id,
  s.name,
  CASE
    WHEN coalesce(extract_arg(s.arg_set_id, 'debug.device'), extract_arg(s.arg_set_id, 'args.device')) GLOB '/device:*' THEN r.machine
    ELSE ''
  END || coalesce(extract_arg(s.arg_set_id, 'debug.device'), extract_arg(s.arg_set_id, 'args.device')) AS device,
  coalesce(extract_arg(s.arg_set_id, 'debug.cause'), extract_arg(s.arg_set_id, 'args.cause')) AS cause,
  coalesce(extract_arg(s.arg_set_id, 'debug.host_event'), extract_arg(s.arg_set_id, 'args.host_event')) AS host_event,
  coalesce(extract_arg(s.arg_set_id, 'debug.host_thread'), extract_arg(s.arg_set_id, 'args.host_thread')) AS host_thread,
  coalesce(extract_arg(s.arg_set_id, 'debug.ended_by'), extract_arg(s.arg_set_id, 'args.ended_by')) AS ended_by
FROM slice AS s
JOIN _tpusight_rows AS r ON r.track_id = s.track_id
WHERE
  s.category = 'tpusight'
  AND r.row_name GLOB 'Gaps: *'
  AND coalesce(extract_arg(s.arg_set_id, 'debug.cause'), extract_arg(s.arg_set_id, 'args.cause')) IS NOT NULL;
