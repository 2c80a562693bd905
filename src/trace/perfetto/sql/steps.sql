-- TPUsight: the steps of the report.
INCLUDE PERFETTO MODULE tpusight.rows;

-- A step, as long as the report says: the mean of the devices that ran it. source says how it is known (marked, inferred, launched,
-- host). The classes are core time, of all cores that ran it; a slow step has what it took beyond the median, and why.
CREATE PERFETTO VIEW tpusight_steps AS
SELECT
  s.id,
  s.ts,
  s.dur,
  s.track_id,
  s.name,
  coalesce(extract_arg(s.arg_set_id, 'debug.step'), extract_arg(s.arg_set_id, 'args.step')) AS step,
  coalesce(extract_arg(s.arg_set_id, 'debug.source'), extract_arg(s.arg_set_id, 'args.source')) AS source,
  coalesce(extract_arg(s.arg_set_id, 'debug.cores'), extract_arg(s.arg_set_id, 'args.cores')) AS cores,
  coalesce(extract_arg(s.arg_set_id, 'debug.slow_by_ns'), extract_arg(s.arg_set_id, 'args.slow_by_ns')) AS slow_by_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.cause'), extract_arg(s.arg_set_id, 'args.cause')) AS cause,
  coalesce(extract_arg(s.arg_set_id, 'debug.reason'), extract_arg(s.arg_set_id, 'args.reason')) AS reason,
  coalesce(extract_arg(s.arg_set_id, 'debug.compute_ns'), extract_arg(s.arg_set_id, 'args.compute_ns'), 0) AS compute_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.below_roofline_ns'), extract_arg(s.arg_set_id, 'args.below_roofline_ns'), 0) AS below_roofline_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.memory_wait_ns'), extract_arg(s.arg_set_id, 'args.memory_wait_ns'), 0) AS memory_wait_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.communication_ns'), extract_arg(s.arg_set_id, 'args.communication_ns'), 0) AS communication_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.host_transfer_ns'), extract_arg(s.arg_set_id, 'args.host_transfer_ns'), 0) AS host_transfer_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.rematerialization_ns'), extract_arg(s.arg_set_id, 'args.rematerialization_ns'), 0) AS rematerialization_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.unexplained_ns'), extract_arg(s.arg_set_id, 'args.unexplained_ns'), 0) AS unexplained_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.compilation_ns'), extract_arg(s.arg_set_id, 'args.compilation_ns'), 0) AS compilation_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.input_ns'), extract_arg(s.arg_set_id, 'args.input_ns'), 0) AS input_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.launch_ns'), extract_arg(s.arg_set_id, 'args.launch_ns'), 0) AS launch_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.idle_ns'), extract_arg(s.arg_set_id, 'args.idle_ns'), 0) AS idle_ns
FROM slice AS s
JOIN _tpusight_rows AS r ON r.track_id = s.track_id
WHERE
  s.category = 'tpusight'
  AND r.kind = 'run'
  AND r.row_name = 'Steps';
