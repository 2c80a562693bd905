-- TPUsight: what the doctor found, wherever a row shows it.
INCLUDE PERFETTO MODULE tpusight.rows;

-- Slices of findings: on ops, on times, and one for each finding on the row of the run. The figures are the finding's,
-- the same on each of its slices: count a finding once.
CREATE PERFETTO VIEW tpusight_findings AS
SELECT
  s.id,
  s.ts,
  s.dur,
  s.track_id,
  coalesce(extract_arg(s.arg_set_id, 'debug.finding'), extract_arg(s.arg_set_id, 'args.finding')) AS finding,
  coalesce(extract_arg(s.arg_set_id, 'debug.rule'), extract_arg(s.arg_set_id, 'args.rule')) AS rule,
  coalesce(extract_arg(s.arg_set_id, 'debug.severity'), extract_arg(s.arg_set_id, 'args.severity')) AS severity,
  coalesce(extract_arg(s.arg_set_id, 'debug.rank'), extract_arg(s.arg_set_id, 'args.rank')) AS rank,
  coalesce(extract_arg(s.arg_set_id, 'debug.title'), extract_arg(s.arg_set_id, 'args.title')) AS title,
  coalesce(extract_arg(s.arg_set_id, 'debug.evidence'), extract_arg(s.arg_set_id, 'args.evidence')) AS evidence,
  coalesce(extract_arg(s.arg_set_id, 'debug.advice'), extract_arg(s.arg_set_id, 'args.advice')) AS advice,
  coalesce(extract_arg(s.arg_set_id, 'debug.impact_ns'), extract_arg(s.arg_set_id, 'args.impact_ns')) AS impact_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.impact_pct'), extract_arg(s.arg_set_id, 'args.impact_pct')) AS impact_pct,
  r.row_name,
  r.device
FROM slice AS s
JOIN _tpusight_rows AS r ON r.track_id = s.track_id
WHERE
  s.category = 'tpusight'
  AND coalesce(extract_arg(s.arg_set_id, 'debug.finding'), extract_arg(s.arg_set_id, 'args.finding')) IS NOT NULL;
