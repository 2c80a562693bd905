-- TPUsight: the rows of a trace, as they are called in both of its forms.
--
-- JSON has a row as a thread, Perfetto's own form as a track of the process or of a group in it. Lanes, on which
-- slices of one row lie that overlap, get the name of their row; our rows lose the words "TPUsight: ". Of several hosts
-- a device has the host's name in front: JSON has it in the process's name, Perfetto's own form and an archive of ranks as
-- the name of a machine.
CREATE PERFETTO TABLE _tpusight_names AS
SELECT
  t.id AS track_id,
  p.upid,
  p.pid,
  CASE WHEN (SELECT count(name) FROM machine) > 1 THEN coalesce(m.name || ' ', '') ELSE '' END AS machine,
  -- an annotated copy of a trace says "TPUsight: /device:GPU:0 (rank 3)"
  CASE
    WHEN p.name GLOB 'TPUsight: * (rank [0-9]*)' THEN substr(p.name, 11, instr(p.name, ' (rank ') - 11)
    WHEN p.name GLOB 'TPUsight: *' THEN substr(p.name, 11)
    ELSE p.name
  END AS process,
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

-- What lies on a row: "ops" (what a core or a stream does), "async" (from a start to its done), "run" (what the report says of
-- the run; where several files have that, in the first of them), else NULL.
CREATE PERFETTO TABLE _tpusight_rows AS
SELECT
  track_id,
  pid,
  machine,
  CASE WHEN process GLOB '/device:*' THEN machine || process ELSE process END AS device,
  CASE WHEN name GLOB 'TPUsight: *' THEN substr(name, 11) ELSE name END AS row_name,
  CASE
    WHEN process GLOB '*/device:TPU:*' AND name = 'XLA Ops' THEN 'ops'
    WHEN process GLOB '*/device:GPU:*' AND name GLOB 'Stream*' THEN 'ops'
    WHEN process GLOB '*/device:CPU:*' AND name NOT IN ('Steps', 'XLA Modules') AND name NOT GLOB 'TPUsight: *' THEN 'ops'
    WHEN process GLOB '*/device:*' AND name = 'Async XLA Ops' THEN 'async'
    WHEN process = 'TPUsight' AND upid = (SELECT min(upid) FROM _tpusight_names WHERE process = 'TPUsight') THEN 'run'
  END AS kind
FROM _tpusight_names;
