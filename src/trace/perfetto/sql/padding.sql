-- TPUsight: ops that carry padding of tiles.
INCLUDE PERFETTO MODULE tpusight.rows;

-- The times of ops whose bytes or FLOPs are partly padding. time_lost_ns and the bytes are of the op in the whole run,
-- the same on each of its slices: take an op once.
CREATE PERFETTO VIEW tpusight_padding AS
SELECT
  s.id,
  s.ts,
  s.dur,
  s.track_id,
  coalesce(extract_arg(s.arg_set_id, 'debug.op'), extract_arg(s.arg_set_id, 'args.op')) AS name,
  coalesce(extract_arg(s.arg_set_id, 'debug.module'), extract_arg(s.arg_set_id, 'args.module')) AS module,
  coalesce(extract_arg(s.arg_set_id, 'debug.logical_bytes'), extract_arg(s.arg_set_id, 'args.logical_bytes')) AS logical_bytes,
  coalesce(extract_arg(s.arg_set_id, 'debug.allocated_bytes'), extract_arg(s.arg_set_id, 'args.allocated_bytes')) AS allocated_bytes,
  coalesce(extract_arg(s.arg_set_id, 'debug.padded_flops_pct'), extract_arg(s.arg_set_id, 'args.padded_flops_pct')) AS padded_flops_pct,
  coalesce(extract_arg(s.arg_set_id, 'debug.time_lost_ns'), extract_arg(s.arg_set_id, 'args.time_lost_ns')) AS time_lost_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.own_ns'), extract_arg(s.arg_set_id, 'args.own_ns')) AS own_ns,
  r.device
FROM slice AS s
JOIN _tpusight_rows AS r ON r.track_id = s.track_id
WHERE
  s.category = 'tpusight'
  AND r.row_name = 'Padding';
