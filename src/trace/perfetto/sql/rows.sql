-- TPUsight: the rows of a trace, as they are called in both of its forms.
--
-- JSON has a row as a thread, Perfetto's own form as a track of the process or of a group in it. Lanes, on which
-- slices of one row lie that overlap, get the name of their row; our rows lose the words "TPUsight: ". Of several hosts
-- a device has the host's name in front: JSON has it in the process's name, Perfetto's own form as the name of a machine.
CREATE PERFETTO TABLE _tpusight_names AS
SELECT
  t.id AS track_id,
  CASE
    WHEN p.name GLOB '/device:*' AND (SELECT count(name) FROM machine) > 1 THEN m.name || ' ' || p.name
    ELSE p.name
  END AS process,
  p.pid,
  CASE
    WHEN coalesce(th.name, t.name) GLOB '* ([0-9]*)'
      THEN rtrim(rtrim(rtrim(coalesce(th.name, t.name), ')'), '0123456789'), ' (')
    ELSE coalesce(th.name, t.name)
  END AS name
FROM track AS t
LEFT JOIN thread_track AS tt ON tt.id = t.id
LEFT JOIN thread AS th ON th.utid = tt.utid
LEFT JOIN process_track AS pt ON pt.id = t.id
LEFT JOIN process_counter_track AS ct ON ct.id = t.id
LEFT JOIN process AS p ON p.upid = coalesce(th.upid, pt.upid, ct.upid)
LEFT JOIN machine AS m ON m.id = p.machine_id;

-- What lies on a row: "ops" (what a core or a stream does), "async" (from a start to its done), "steps", "ours".
CREATE PERFETTO TABLE _tpusight_rows AS
SELECT
  track_id,
  pid,
  CASE WHEN process GLOB 'TPUsight: *' THEN substr(process, 11) ELSE process END AS device,
  CASE WHEN name GLOB 'TPUsight: *' THEN substr(name, 11) ELSE name END AS row_name,
  CASE
    WHEN process GLOB '*/device:TPU:*' AND name = 'XLA Ops' THEN 'ops'
    WHEN process GLOB '*/device:GPU:*' AND name GLOB 'Stream*' THEN 'ops'
    WHEN process GLOB '*/device:*' AND name = 'Async XLA Ops' THEN 'async'
    WHEN process GLOB '*/device:*' AND name = 'Steps' THEN 'steps'
  END AS kind
FROM _tpusight_names;
