#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the small seeds of the fuzz targets: make_seeds.py [OUTDIR], by default tests/fuzz/seeds.

Python alone. The hard cases of tests/fixtures/edge.py and captures.py as profiles, modules cut out of the sample run, and texts by
hand. Run it again when a format grows a field; seeds that a campaign found are named found-* and are left alone.
"""
import gzip
import io
import json
import os
import random
import sys
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
import captures
import edge
import riegeli
from wire import blob, fields, num, varint

DATA = os.path.join(HERE, "..", "data")
SAMPLE = os.path.join(DATA, "sample", "train_step_simulated", "plugins", "profile",
                      "2026_01_01_00_00_00", "simulated-host.xplane.pb")
SMALL = 6000

SHAPES = ["f32[]", "pred[7]", "bf16[8,128]{1,0:T(8,128)(2,1)}", "f32[2,3,4]{2,1,0}", "s4[5,256]{1,0:T(8,128)(8,1)E(4)}",
          "(f32[2]{0}, (s32[], u8[3,3]{0,1:T(2,128)S(5)}), token[])", "f32[<=16,2]{1,0}", "f8e4m3fn[4]{0:T(128)S(1)}",
          "c64[0,5]{1,0}", "u32[]{:S(2)}", "f32[9223372036854775807,9223372036854775807]", "bf16[1,2]{0,1:D(D,C)T(4)} x"]
REPLIES = [
    '{"id":1,"ok":true,"version":1,"store":"gs","can":["append","cut","if_generation"],"jobs":8}',
    '{"id":2,"entry":{"name":"a/b.xplane.pb","size":1,"mtime_ns":1700000000000000000,"generation":"17"}}\n{"id":2,"ok":true}',
    '{"id":3,"entry":{"name":"a/","is_folder":true}}\n{"id":4,"done":1048576}',
    '{"id":4,"ok":true,"size":3,"generation":"\\u0041\\"\\n"}\n{"id":6,"ok":true,"generation":"g","uploaded":9,"how":"compose"}',
    '{"id":5,"ok":false,"code":"changed","text":"the object has changed (run again)"}',
    '{"id":7,"entry":{"name":"../../etc/passwd","size":9,"mtime_ns":-1,"generation":"x"}}',
]
CONFIGS = ['{"thresholds": {"mxu_utilization_low": 30, "max_findings": 5}}', "{}", '{"thresholds": {}}',
           '{"thresholds": []}', '{"other": 1}', '{"thresholds": {"idle_high": -1}}', "[1, 2", '{"thresholds": {"x": 1e999}}']


def profiles():
    for name, make in edge.CASES.items():
        data = make()[0]
        if 0 < len(data) < SMALL:
            yield name, data
    for name, (make, _, _) in captures.CASES.items():
        for host, data in make().items():
            if len(data) < SMALL:
                yield f"capture_{name}" + (f"_{host}" if host != "host" else ""), data


def traces():
    """Chrome traces: PyTorch's and JAX's ways, and what else stands in such files."""
    x = '{"ph":"X","pid":%s,"tid":%s,"ts":%s,"dur":%s,"cat":"%s","name":"%s","args":{"stream":7,"correlation":3,"bytes":16}}'
    host = x % (100, 100, "1010", 200, "user_annotation", "ProfilerStep#7")
    later = x % (100, 100, "1210.5", "2e2", "user_annotation", "ProfilerStep#8")
    kernel = x % (0, 7, "1020.125", 30, "kernel", "sm90_xmma_gemm")
    nccl = x % (0, '"20"', 1040, "NaN", "kernel", "ncclDevKernel_AllReduce")
    begin = '{"ph":"B","pid":1,"tid":2,"ts":5,"name":"b\\u00e9\\ud83d\\ude00\\"q"},{"ph":"E","pid":1,"tid":2,"ts":9}'
    jax = ('{"ph":"M","pid":3,"name":"process_name","args":{"name":"/device:TPU:0"}},'
           '{"ph":"M","pid":3,"tid":1,"name":"thread_name","args":{"name":"XLA Ops"}},'
           '{"ph":"X","pid":3,"tid":1,"ts":1,"dur":2,"name":"fusion","args":{"hlo_category":"loop fusion","flops":"12"}}')
    head = ('{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H100","totalGlobalMem":85018279936,"computeMajor":9,'
            '"computeMinor":0,"numSms":132}],"distributedInfo":{"rank":3,"world_size":8},"traceEvents":[')
    tail = '],"stackFrames":{"1":{"a":["]}"]}},"baseTimeNanoseconds":1735632360000000000}'
    yield "pytorch", (head + ",".join([kernel, host, nccl, later, '{"ph":"i","ts":3,"name":"[memory]"}']) + tail).encode()
    yield "array", ("[" + ",\n".join([begin, kernel, '{"ph":"C","ts":1,"name":"c","args":{"v":1}}'])).encode()
    yield "jax", ("[" + jax + "]").encode()
    yield "packed", gzip.compress((head + kernel + "," + host + tail).encode(), mtime=0)
    yield "nested", ('[{"ph":"X","ts":1,"args":' + "[" * 500 + "]" * 500 + "}]").encode()


def event(name, category, tid, start, length, pid=9, **args):
    fields = {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": length, "args": args}
    return json.dumps(fields, separators=(",", ":"))


def block(start, address, size, total, name="[memory]", device=1):
    args = {"Device Type": device, "Device Id": device - 1, "Addr": address, "Bytes": size, "Total Allocated": total,
            "Total Reserved": 4096 * device, "Ev Idx": int(start)}
    return json.dumps({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": name, "pid": 9, "tid": 1, "ts": start,
                       "args": args}, separators=(",", ":"))


def trace_of(events, rank=0):
    head = {"deviceProperties": [{"id": 0, "name": "NVIDIA H100", "totalGlobalMem": 8192, "numSms": 132}],
            "distributedInfo": {"rank": rank, "world_size": 2}}
    return (json.dumps(head)[:-1] + ',"traceEvents":[\n' + ",\n".join(events) + "]}").encode()


def steps(nr, length=100):
    return [event(f"ProfilerStep#{i}", "user_annotation", 1, i * length, length) for i in range(nr)]


def launches(nr, kernel="sm90_xmma_gemm", stream=7, delay=20):
    out = []
    for i in range(nr):
        out += [event("aten::mm", "cpu_op", 1, 10 + 50 * i, 12), event("cudaLaunchKernel", "cuda_runtime", 1, 12 + 50 * i, 5,
                                                                       correlation=i + 1),
                event(kernel, "kernel", stream, 12 + delay + 50 * i, 9, pid=0, stream=stream, correlation=i + 1, device=0)]
    return out


def jobs():
    """Traces for the whole way: memory and its owners, launches and waits, two ranks, what a compiler leaves, odd members."""
    held = [event("nn.Module: Linear_0", "python_function", 1, 20, 60), event("a.py(3): f", "python_function", 1, 15, 80),
            event("aten::linear", "cpu_op", 1, 25, 10), event("aten::empty", "cpu_op", 1, 26, 3),
            event("cudaMalloc", "cuda_runtime", 1, 120, 8), event("Optimizer.step#SGD.step", "user_annotation", 1, 150, 40)]
    blocks = [block(27, 1, 512, 1024), block(60, 2, 2048, 3072), block(70, 1, -512, 2560), block(160, 3, 64, 2624),
              block(161, 4, 8, 8, device=0), block(180, 5, 9000, 2624, "[OutOfMemory]")]
    yield "memory", trace_of(steps(6) + held + blocks + launches(3))
    yield "failed", trace_of(steps(2) + launches(1) + [block(50, 5, 9000, 2624, "[OutOfMemory]")])
    waits = [event("cudaDeviceSynchronize", "cuda_runtime", 1, 230, 60, correlation=90),
             event("enumerate(DataLoader)#_Iter.__next__", "user_annotation", 1, 300, 80),
             event("Memcpy HtoD (Pinned -> Device)", "gpu_memcpy", 7, 320, 30, pid=0, bytes=4096, correlation=91)]
    yield "launches", trace_of(steps(4) + launches(6) + waits)
    ranks = [trace_of(steps(3) + launches(2) + [
        event("ncclDevKernel_AllReduce_Sum_f32", "kernel", 20, 100 + 30 * rank, 40 - 10 * rank, pid=0, stream=20, correlation=50,
              **{"Collective name": "allreduce", "In msg nelems": 1024, "dtype": "Float", "Group size": 2})], rank)
        for rank in range(2)]
    yield "ranks", b"\x1e".join(ranks)
    compiled = [event("Torch-Compiled Region: 0/0", "user_annotation", 1, 10, 80), event("CompiledFunction", "cpu_op", 1, 12, 70),
                event("triton_poi_fused_add_0", "cpu_op", 1, 20, 6), event("_compile.compile_inner (dynamo_timed)", "cpu_op", 1, 200, 90)]
    yield "compiled", trace_of(steps(3) + compiled + launches(3, "triton_poi_fused_add_0"))
    recorded = {"wait_on_stream": 7, "wait_on_cuda_event_record_corr_id": 60}
    told = [event("cudaEventRecord", "cuda_runtime", 1, 22, 1, correlation=60),
            event("cudaStreamWaitEvent", "cuda_runtime", 1, 24, 2, correlation=61),
            event("Stream Wait Event", "cuda_sync", 9, 25, 1, pid=0, stream=9, correlation=61, **recorded),
            event("cudaLaunchKernel", "cuda_runtime", 1, 28, 2, correlation=62),
            event("elementwise", "kernel", 9, 45, 9, pid=0, stream=9, correlation=62),
            event("cudaEventSynchronize", "cuda_runtime", 1, 32, 25, correlation=63),
            event("Event Sync", "cuda_sync", -1, 33, 23, pid=0, stream=-1, correlation=63, **recorded),
            event("cudaStreamSynchronize", "cuda_runtime", 1, 240, 20, correlation=64),
            event("Stream Sync", "cuda_sync", 7, 241, 18, pid=0, stream=7, correlation=64),
            event("cudaDeviceSynchronize", "cuda_runtime", 1, 270, 20, correlation=65),
            event("Context Sync", "cuda_sync", -1, 271, 18, pid=0, stream=-1, correlation=65)]
    yield "synchronized", trace_of(steps(4) + launches(6) + told)
    yield "packed_ranks", gzip.compress(ranks[0], mtime=0) + b"\x1e" + ranks[1]


def modules(data):
    """The HloProtos of the sample's /host:metadata, the smallest few."""
    found = []
    for field, _, plane in fields(data):
        if field != 1 or b"/host:metadata" not in plane[:200]:
            continue
        for field, _, entry in fields(plane):
            if field != 4:
                continue
            for field, _, meta in fields(entry):
                for field, _, stat in fields(meta) if isinstance(meta, bytes) else ():
                    found += [v for f, _, v in fields(stat) if f == 6] if field == 5 else []
    return sorted(found, key=len)[:3]


def small_module():
    """add(p, p) of f32[8,128], with an entry computation and a stack frame."""
    layout = blob(5, num(1, 1) + num(1, 0) + blob(6, num(1, 8) + num(1, 128)))
    shape = blob(3, num(2, 11) + num(3, 8) + num(3, 128) + layout)
    param = blob(2, blob(1, "p") + blob(2, "parameter") + shape + num(9, 0) + num(35, 1))
    add = blob(2, blob(1, "sum") + blob(2, "add") + shape + blob(7, blob(2, "jit(f)/add") + blob(3, "a.py") + num(4, 3)) +
               num(35, 2) + num(36, 1) + num(36, 1) + blob(43, b'{"window_config":{"estimated_cycles":"12"}}'))
    comp = blob(3, blob(1, "main") + param + add + num(5, 9) + num(6, 2))
    return blob(1, blob(1, "jit_f") + blob(2, "main") + comp + num(5, 3) + num(6, 9))


def module_with_buffers():
    """The same with an assignment of buffers as older writers have it: places by name, paths not packed; two heaps' events."""
    def buffer(number, size, name, path=b""):
        return blob(1, num(1, number) + num(2, size) + blob(3, blob(2, name) + path))

    def assigned(number, offset):
        return blob(9, num(1, number) + num(2, offset) + num(3, 4096))

    buffers = buffer(1, 4096, "p") + buffer(2, 4096, "sum", num(3, 0)) + buffer(3, 16, "nobody") + buffer(4, 8, "sum", blob(3, b"\1\2"))
    allocations = blob(3, num(2, 4096) + num(5, 1) + assigned(1, 0))
    allocations += blob(3, num(2, 8192) + num(7, 1) + assigned(2, 0) + assigned(9, 4096))
    heap = blob(4, b"".join(blob(1, num(1, kind) + num(2, 2) + num(4, 2) + num(5, 1)) for kind in (0, 2, 1)))
    return small_module() + blob(3, buffers + allocations + heap + heap)


def changes():
    """Changes of states (hostile_states.c): none, and some, of each of its profiles."""
    rng = random.Random(15)
    for number in range(7):
        some = b"".join(
            bytes([rng.randrange(40), 0, rng.randrange(256), rng.choice([0, 1, 2, 8, 127, 128, 255, rng.randrange(256)])])
            for _ in range(40))
        yield f"changes_{number}", bytes([number]) + some
        yield f"as_it_is_{number}", bytes([number])


def archives():
    data = edge.plain()[0]
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name in ["a.xplane.pb", "dir/b.txt"]:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    yield "two.tar", out.getvalue()
    yield "two.tar.gz", gzip.compress(out.getvalue(), mtime=0)
    for name, how in (("stored.zip", zipfile.ZIP_STORED), ("packed.zip", zipfile.ZIP_DEFLATED)):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", how) as z:
            z.writestr(zipfile.ZipInfo("p/a.xplane.pb", (2026, 1, 1, 0, 0, 0)), data * 10, how)
        yield name, out.getvalue()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name in ("gr\u00fc\u00dfe/h.xplane.pb", "\u6587/a.txt"):
            z.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), b"content")
    yield "utf8_names.zip", out.getvalue()


def gzips():
    text = b'{"otherData":{"generator":"tpusight"},"traceEvents":[]}'
    yield "one", gzip.compress(text, mtime=0)
    yield "two", gzip.compress(text, mtime=0) + gzip.compress(b"more" * 100, mtime=0)
    yield "padded", gzip.compress(text, mtime=0) + bytes(512)
    yield "empty", gzip.compress(b"", mtime=0)
    named = io.BytesIO()
    with gzip.GzipFile("a name", "wb", fileobj=named, mtime=0) as f:
        f.write(text)
    yield "named", named.getvalue()


def overlays():
    suggestion = blob(1, blob(1, "InputBoundRule") + blob(2, "text") + num(9, 1))
    yield "suggestions", suggestion + blob(1, blob(1, "TPUsight/idle") + blob(2, "ours"))
    native = edge.plain()[0]
    mark = blob(5, num(1, 1) + blob(2, num(1, 1) + blob(2, "tpusight_native_bytes")))

    def plane(native_bytes):
        return blob(1, blob(2, "/device:CUSTOM:TPUsight 0") + mark + blob(6, num(1, 1) + num(3, native_bytes)))

    yield "annotated", native + plane(len(native)) * 2
    yield "moved", b"\x0a\x00" + native + plane(len(native))
    yield "plain", native
    records = bytearray(riegeli.file_of(riegeli.records(native), padded=False))
    at = len(records)
    riegeli.put(records, riegeli.records(plane(at) * 2))
    yield "records_annotated", bytes(records)
    riegeli.put(records, riegeli.records(native))
    yield "records_moved", bytes(records)
    yield "records_cut", bytes(records[:at + 200])


def memory_profiles():
    """A stack of two calls that holds 4096 bytes, in numbers packed and one by one, plain and in gzip."""
    texts = ["", "space", "bytes", "allocations", "count", "kind", "buffer", "device", "TPU_0", "init", "a.py", "ones",
             "/site-packages/b.py"]
    types = blob(1, num(1, 3) + num(2, 4)) + blob(1, num(1, 1) + num(2, 2))
    labels = blob(3, num(1, 5) + num(2, 6)) + blob(3, num(1, 7) + num(2, 8))
    tables = (blob(4, num(1, 1) + blob(4, num(1, 1) + num(2, 7))) + blob(4, num(1, 2) + blob(4, num(1, 2) + num(2, 9))) +
              blob(5, num(1, 1) + num(2, 11) + num(4, 12)) + blob(5, num(1, 2) + num(2, 9) + num(4, 10)) +
              b"".join(blob(6, t) for t in texts))
    single = types + blob(2, num(1, 1) + num(1, 2) + num(2, 1) + num(2, 4096) + labels) + tables
    packed = types + blob(2, blob(1, b"\x01\x02") + blob(2, b"\x01\x80\x20") + labels) + tables
    yield "single", single
    yield "packed", packed
    yield "gzip", gzip.compress(packed, mtime=0)


def compiler_logs():
    """Records as PyTorch's structured log has them; a graph break, a list of guards, metrics, one packed."""
    head = "V1121 15:03:11.119000 31397 torch/_dynamo/x.py:55] "
    where = '"frame_id": 0, "frame_compile_id": 1, "attempt": 0, "rank": 3}'
    graph_break = (head + '{"artifact": {"name": "dynamo_graph_break_reason"}, ' + where +
                   "\n\tGraph break in user code at /a/b.py:17\n\tGraph Break Reason: While tracing:\n\t\n\tPrint called\n"
                   "\t  Explanation: It is.\n\t  Hint: No.\n\tUser code traceback:\n\t  File \"/a/b.py\", line 17, in f\n")
    guards = (head + '{"artifact": {"name": "recompile_reasons"}, ' + where + '\n\t[\n\t"0/0: a == 1",\n\t"0/0: b"\n\t]\n')
    metrics = (head + '{"compilation_metrics": {"compile_id": "!2/0/1", "co_name": "f\\u00e9", "co_firstlineno": 3, '
               '"duration_us": 12, "backend_compile_time_s": 1.5e-3, "restart_reasons": ["a"]}, ' + where + "\n")
    version = head + '{"artifact": {"name": "torch_version"}}\n\t{\n\t"pytorch_version": "2.15.0"\n\t}\n'
    yield "break", graph_break.encode()
    yield "guards", (guards + metrics).encode()
    yield "metrics", (version + metrics).encode()
    yield "gzip", gzip.compress((metrics + graph_break).encode(), mtime=0)


def copied(sample):
    """Of what trim and redact take apart: profiles with texts, references and modules, traces with pairs."""
    wanted = ("plain", "ref_values", "metadata_ids", "steps_marked", "unknown_fields", "capture_no_hlo")
    yield from ((name, data) for name, data in profiles() if name in wanted)
    module = small_module()
    entry = num(1, 7) + blob(2, num(1, 7) + blob(2, "jit_f(7)") + blob(5, num(1, 1) + blob(6, module)))
    yield "module", blob(1, blob(2, "/host:metadata") + blob(4, entry) +
                         blob(5, num(1, 1) + blob(2, num(1, 1) + blob(2, "hlo_proto"))))
    yield from ((f"trace_{name}", data) for name, data in traces())
    events = ",".join(f'{{"ph": "{ph}", "id": {i}, "pid": 1, "tid": 1, "ts": {ts}, "name": "f", "cat": "c"}}'
                      for ph, i, ts in (("s", 1, 6), ("f", 1, 9), ("b", 2, 1), ("n", 2, 7), ("e", 2, 50), ("B", 3, 2), ("E", 3, 8)))
    yield "trace_pairs", f'[{{"ph": "X", "ts": 0, "dur": 60, "pid": 1, "tid": 1, "name": "x"}},{events}]'.encode()


def answers():
    """What a job's profiler server answers to a sample, in gRPC's frame: profiles, none, a tool's data first, odd frames."""
    def frame(message):
        return b"\0" + len(message).to_bytes(4, "big") + message

    small = dict(profiles())
    for name in ("plain", "steps_marked", "ref_values", "capture_no_hlo"):
        if name in small:
            yield name, frame(blob(8, small[name]))
    module = num(1, 7) + blob(2, num(1, 7) + blob(2, "jit_f(7)") + blob(5, num(1, 1) + blob(6, small_module())))
    metadata = blob(1, blob(2, "/host:metadata") + blob(4, module) + blob(5, num(1, 1) + blob(2, num(1, 1) + blob(2, "hlo_proto"))))
    yield "module", frame(blob(8, small["plain"] + metadata))
    for name in ("cpu_cache_warm", "cpu_cache_cold"):
        with open(os.path.join(DATA, f"{name}.xplane.pb"), "rb") as f:
            yield name, frame(blob(8, f.read()))
    yield "tool_data", frame(blob(6, blob(1, "trace.json") + blob(2, "{}")) + num(7, 0) + blob(8, small["plain"]))
    yield "empty_trace", frame(num(7, 1))
    yield "no_message", frame(b"")
    yield "compressed", b"\1" + frame(blob(8, small["plain"]))[1:]
    yield "long", frame(num(7, 1)) + b"more"


def in_records():
    """Profiles in Riegeli's records: in one piece, in two, and what they look like unpacked; damaged; transposed."""
    small = dict(profiles())
    halves = riegeli.pieces(small["plain"])
    file = bytearray(riegeli.file_of(*(riegeli.records(half) for half in halves), padded=False))
    yield "one", riegeli.file_of(riegeli.records(small["plain"]), padded=False)
    yield "one_chunk", riegeli.file_of(riegeli.records(*halves), padded=False)
    yield "two", bytes(file)
    yield "steps", riegeli.file_of(*(riegeli.records(half) for half in riegeli.pieces(small["steps_marked"])), padded=False)
    yield "unpacked", b"".join(halves)
    yield "unpacked_thrice", b"".join(halves) + halves[1]
    yield "again", riegeli.file_of(riegeli.records(halves[0])) + riegeli.file_of(riegeli.records(halves[1]), padded=False)
    file[150] ^= 1
    yield "damaged", bytes(file)
    yield "transposed", riegeli.file_of(riegeli.chunk("t", b"\0"), riegeli.records(small["plain"]), padded=False)
    yield "snappy", riegeli.file_of(riegeli.records(small["plain"], packing=ord("s")), padded=False)
    yield "empty", riegeli.file_of(padded=False)
    yield "long_sizes", riegeli.file_of(riegeli.chunk("r", b"\0" + varint(1 << 40), 1, 1), padded=False)
    yield "wrong_sum", riegeli.file_of(riegeli.chunk("r", b"\0\1\1x", 1, 2), padded=False)


def report(**more):
    """A report in JSON as far as a list reads it."""
    host = {"name": "host", "file": "logs/host.xplane.pb", "bytes": 100, "start_unix_ns": "1767225600000000000"}
    return {"schema": "tpusight/1", "generator": {"name": "tpusight", "version": "1"},
            "run": {"duration_ps": 395108941250, "hosts": [host], "devices": [{"id": 0, "chip": "TPU v6e"}, {"id": 1, "chip": "TPU v6e"}]},
            "overview": {"health_score": 57, "step_count": 70, "step_time_ps": {"median": 16910382656, "p90": 23387658906}},
            "steps": [{"step": n, "duration_ps": 1000 + n} for n in range(70)],
            "modules": [{"name": "jit_a", "total_time_ps": 5}, {"name": "jit_b\\u00e9", "total_time_ps": 9}],
            "time": {"total_ps": 100, "buckets": {"compute_ps": 60, "idle_ps": 40}, "bottleneck": "Compute takes 60 %."}, **more}


CARDS = [json.dumps(report()), json.dumps(report(), indent=2), json.dumps(report())[:700],
         json.dumps(report(annotation={"files": [{"what": "overlay", "name": "host.xplane.pb", "bytes": 50}], "state": "0"})),
         json.dumps(report(steps=[], modules={}, time=None, overview=[1])),
         json.dumps(report(overview={"health_score": 1e999, "step_count": -1})),
         json.dumps(report(time={"bottleneck": "x" * 600 + "\u00e9" * 300, "total_ps": 2**63})), '{"schema": "tpusight/1"}', "{}", ""]
QUERIES = ["", "0\n1", "-5\n9223372036854775807", "1\n1", "2305843009213693952\n", "1.5\n2", "\n\n/device:TPU:0\nhost", "\n\n" + "d" * 1025,
           "\n\n3\n\nstep_time_ms.median > baseline * 1.05", "\n\n\n\nhealth_score <",
           "99999999999999999999\n+1\n\n\nwall_ms >= baseline + 5 %"]


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "seeds")
    with open(SAMPLE, "rb") as f:
        sample = f.read()
    sets = {
        "xplane": list(profiles()), "pb": list(profiles())[:4], "overlay": list(overlays()),
        "hlo": [("add", small_module()), ("buffers", module_with_buffers())] +
               [(f"sample{n}", m) for n, m in enumerate(modules(sample)) if len(m) < 30000],
        "shape": [(f"shape{n:02}", s.encode()) for n, s in enumerate(SHAPES)],
        "config": [(f"config{n}", s.encode()) for n, s in enumerate(CONFIGS)],
        "query": [(f"query{n}", s.encode()) for n, s in enumerate(QUERIES)],
        "card": [(f"card{n}", s.encode()) for n, s in enumerate(CARDS)],
        "remote": [(f"reply{n}", s.encode()) for n, s in enumerate(REPLIES)],
        "chrome": list(traces()), "trace": list(jobs()), "gunzip": list(gzips()), "archive": list(archives()),
        "riegeli": list(in_records()), "pprof": list(memory_profiles()), "torch_trace": list(compiler_logs()),
        "copy": list(copied(sample)), "live": list(answers()), "hostile_states": list(changes()),
    }
    for target, seeds in sets.items():
        os.makedirs(os.path.join(out, target), exist_ok=True)
        for name, data in seeds:
            with open(os.path.join(out, target, name), "wb") as f:
                f.write(data)
    print(sum(len(s) for s in sets.values()), "seeds in", out)


if __name__ == "__main__":
    main()
