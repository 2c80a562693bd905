-- TPUsight: the critical path of the report.
INCLUDE PERFETTO MODULE tpusight.rows;

-- Where the path runs through, of the steps of which the report has it: device by device, and the hosts that held them up.
CREATE PERFETTO VIEW tpusight_path AS
SELECT
  s.id,
  s.ts,
  s.dur,
  s.track_id,
  s.name,
  coalesce(extract_arg(s.arg_set_id, 'debug.kind'), extract_arg(s.arg_set_id, 'args.kind')) AS kind,
  coalesce(extract_arg(s.arg_set_id, 'debug.step'), extract_arg(s.arg_set_id, 'args.step')) AS step,
  coalesce(extract_arg(s.arg_set_id, 'debug.device'), extract_arg(s.arg_set_id, 'args.device')) AS device
FROM slice AS s
JOIN _tpusight_rows AS r ON r.track_id = s.track_id
WHERE
  s.category = 'tpusight'
  AND r.kind = 'run'
  AND r.row_name GLOB 'Critical path: *';

-- What the path of each step is made of.
CREATE PERFETTO VIEW tpusight_path_steps AS
SELECT
  s.id,
  s.ts,
  s.dur,
  s.track_id,
  s.name,
  coalesce(extract_arg(s.arg_set_id, 'debug.step'), extract_arg(s.arg_set_id, 'args.step')) AS step,
  coalesce(extract_arg(s.arg_set_id, 'debug.ops_ns'), extract_arg(s.arg_set_id, 'args.ops_ns'), 0) AS ops_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.collectives_ns'), extract_arg(s.arg_set_id, 'args.collectives_ns'), 0) AS collectives_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.transfers_ns'), extract_arg(s.arg_set_id, 'args.transfers_ns'), 0) AS transfers_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.host_ns'), extract_arg(s.arg_set_id, 'args.host_ns'), 0) AS host_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.input_ns'), extract_arg(s.arg_set_id, 'args.input_ns'), 0) AS input_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.compile_ns'), extract_arg(s.arg_set_id, 'args.compile_ns'), 0) AS compile_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.launch_ns'), extract_arg(s.arg_set_id, 'args.launch_ns'), 0) AS launch_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.idle_ns'), extract_arg(s.arg_set_id, 'args.idle_ns'), 0) AS idle_ns
FROM slice AS s
JOIN _tpusight_rows AS r ON r.track_id = s.track_id
WHERE
  s.category = 'tpusight'
  AND r.kind = 'run'
  AND r.row_name = 'Critical path';
