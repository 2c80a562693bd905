-- TPUsight: steps that the program or XLA marked.
INCLUDE PERFETTO MODULE tpusight.rows;

-- A step of each device: XLA's row of steps, or PyTorch's "ProfilerStep#N".
CREATE PERFETTO VIEW tpusight_steps AS
SELECT
  s.id,
  s.ts,
  s.dur,
  s.track_id,
  s.name,
  CAST(replace(s.name, 'ProfilerStep#', '') AS INT) AS step,
  r.device
FROM slice AS s
JOIN _tpusight_rows AS r ON r.track_id = s.track_id
WHERE
  s.category IS NOT 'tpusight'
  AND (r.kind = 'steps' OR s.name GLOB 'ProfilerStep#[0-9]*');
