-- TPUsight: what devices did, slice by slice.
INCLUDE PERFETTO MODULE tpusight.rows;

-- Texts that stand once an op and row; op_id is the same number in every row of a file.
CREATE PERFETTO TABLE _tpusight_texts AS
SELECT
  r.device,
  coalesce(extract_arg(s.arg_set_id, 'debug.op_id'), extract_arg(s.arg_set_id, 'args.op_id')) AS op_id,
  max(coalesce(extract_arg(s.arg_set_id, 'debug.long_name'), extract_arg(s.arg_set_id, 'args.long_name'))) AS long_name
FROM slice AS s
JOIN _tpusight_rows AS r ON r.track_id = s.track_id
WHERE r.kind = 'ops'
GROUP BY 1, 2;

-- Each execution of an op on a core or a stream of a GPU. self_ns is the time in which no op inside it ran; category
-- is XLA's of the HLO, or that of PyTorch's profiler, whose kernels do not nest: all of their time is their own.
-- In its traces a GPU is a process, whose number is that of the device.
CREATE PERFETTO VIEW tpusight_ops AS
SELECT
  s.id,
  s.ts,
  s.dur,
  s.track_id,
  s.name,
  coalesce(extract_arg(s.arg_set_id, 'debug.hlo_module'), extract_arg(s.arg_set_id, 'args.hlo_module')) AS module,
  coalesce(extract_arg(s.arg_set_id, 'debug.program_id'), extract_arg(s.arg_set_id, 'args.program_id')) AS program_id,
  coalesce(extract_arg(s.arg_set_id, 'debug.op_id'), extract_arg(s.arg_set_id, 'args.op_id')) AS op_id,
  s.category,
  coalesce(extract_arg(s.arg_set_id, 'debug.self_ns'), extract_arg(s.arg_set_id, 'args.self_ns'), s.dur) AS self_ns,
  CASE
    WHEN r.device GLOB '*/device:*' THEN r.device
    ELSE r.machine || '/device:GPU:' || coalesce(extract_arg(s.arg_set_id, 'args.device'), r.pid)
  END AS device,
  coalesce(extract_arg(s.arg_set_id, 'debug.tf_op'), extract_arg(s.arg_set_id, 'args.tf_op')) AS tf_op,
  coalesce(extract_arg(s.arg_set_id, 'debug.source'), extract_arg(s.arg_set_id, 'args.source')) AS source,
  coalesce(extract_arg(s.arg_set_id, 'debug.flops'), extract_arg(s.arg_set_id, 'args.flops')) AS flops,
  coalesce(extract_arg(s.arg_set_id, 'debug.bytes_accessed'), extract_arg(s.arg_set_id, 'args.bytes_accessed')) AS bytes_accessed,
  t.long_name
FROM slice AS s
JOIN _tpusight_rows AS r ON r.track_id = s.track_id
LEFT JOIN _tpusight_texts AS t
  ON t.device = r.device
  AND t.op_id = coalesce(extract_arg(s.arg_set_id, 'debug.op_id'), extract_arg(s.arg_set_id, 'args.op_id'))
WHERE
  s.category IS NOT 'tpusight'
  AND (r.kind = 'ops' OR s.category IN ('kernel', 'gpu_memcpy', 'gpu_memset'));

-- Ops that talk with other devices, by the names that XLA and libraries of collectives give them.
CREATE PERFETTO VIEW tpusight_collectives AS
SELECT
  id, ts, dur, track_id, name, module, program_id, op_id, category, self_ns, device, tf_op, source, flops, bytes_accessed,
  long_name
FROM (
  SELECT *, lower(replace(replace(coalesce(category, '') || ' ' || name, '-', ''), '_', '')) AS words
  FROM tpusight_ops
)
WHERE
  words GLOB '*[^m]allreduce*'
  OR words GLOB '*allgather*'
  OR words GLOB '*alltoall*'
  OR words GLOB '*reducescatter*'
  OR words GLOB '*collective*'
  OR words GLOB '*[nr]ccl*'
  OR words GLOB '*shmem*'
  OR words GLOB '*multimem*'
  OR words GLOB '*crossdevicereduce*';

-- What moves bytes while the core goes on: from the start of a copy to its end, and the copies of a GPU.
CREATE PERFETTO VIEW tpusight_transfers AS
SELECT
  s.id,
  s.ts,
  s.dur,
  s.track_id,
  s.name,
  coalesce(extract_arg(s.arg_set_id, 'debug.hlo_module'), extract_arg(s.arg_set_id, 'args.hlo_module')) AS module,
  coalesce(extract_arg(s.arg_set_id, 'debug.op_id'), extract_arg(s.arg_set_id, 'args.op_id')) AS op_id,
  s.category,
  coalesce(extract_arg(s.arg_set_id, 'debug.bytes_accessed'), extract_arg(s.arg_set_id, 'args.bytes_accessed')) AS bytes_accessed,
  CASE
    WHEN r.device GLOB '*/device:*' THEN r.device
    ELSE r.machine || '/device:GPU:' || coalesce(extract_arg(s.arg_set_id, 'args.device'), r.pid)
  END AS device
FROM slice AS s
JOIN _tpusight_rows AS r ON r.track_id = s.track_id
WHERE
  (r.kind = 'async' AND coalesce(s.category, '') NOT GLOB '*all-*' AND coalesce(s.category, '') NOT GLOB '*reduce-scatter*'
    AND coalesce(s.category, '') NOT GLOB '*collective*')
  OR (r.kind = 'ops' AND (s.name GLOB 'Memcpy*' OR s.name GLOB '*copyBuffer*'))
  OR s.category IN ('gpu_memcpy', 'gpu_memset');
