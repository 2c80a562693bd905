# SPDX-License-Identifier: MIT
"""Log directories, reports and servers for the page's tests. Exits 77 with a word where a tool is missing."""
import contextlib
import json
import os
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fixtures"))
import children
from helpers import PROGRAM, SKIPPED as SKIP, ended as ended, free_port as free_port, need, skip

SAMPLE = os.path.join(HERE, "..", "data", "sample", "train_step_simulated", "plugins", "profile", "2026_01_01_00_00_00",
                      "simulated-host.xplane.pb")
TRACE = os.path.join(HERE, "..", "data", "hand_made.pt.trace.json")
COMPILED = os.path.join(HERE, "..", "data", "torch", "breaks.pt.trace.json.gz")
MEMORY = os.path.join(HERE, "..", "data", "torch_memory.pt.trace.json.gz")
CORPUS = {"v6e": "xplane/tpu_v6e_host_offload.xplane.pb", "mi300x": "xplane/gpu_mi300x_jax_conv.xplane.pb",
          "h100": "kineto/tracelens_h100_timesformer.json.gz", "mi300": "kineto/tracelens_mi300_resnet_act_checkpoint.json.gz"}
PATIENCE_S = 900
NODE_S = 3600  # more than a program gives itself (LIMIT_MS in browser.mjs)


def need_tools():
    if os.environ.get("TS_NO_BROWSER"):
        skip("no browser is wanted (TS_NO_BROWSER)")
    need()
    if not shutil.which("node"):
        skip("node is not installed (apt-get install nodejs npm)")
    made = subprocess.run([PROGRAM, "report", "-q", "--format=html", "-o", os.devnull, SAMPLE], capture_output=True, text=True)
    if "without its page" in made.stderr:
        skip("the program was built without its page (install npm)")


def profiles():
    """{name: file}: the sample, the hand-made trace of a GPU, traces of compiled code and of memory, and of the corpus what is there."""
    found, corpus = {"sample": SAMPLE, "trace": TRACE, "compiled": COMPILED, "memory": MEMORY}, os.environ.get("TS_CORPUS", "")
    for name, path in CORPUS.items():
        if corpus and os.path.exists(os.path.join(corpus, path)):
            found[name] = os.path.join(corpus, path)
        else:
            print(f"{path} is not there (TS_CORPUS names the corpus): left out", file=sys.stderr)
    return found


def logdir(folder, files):
    """A log directory with a session for each {name: file or bytes}."""
    for name, profile in files.items():
        session = os.path.join(folder, name, "plugins", "profile", "2026_01_01_00_00_00")
        os.makedirs(session)
        if isinstance(profile, bytes):
            with open(os.path.join(session, "host.xplane.pb"), "wb") as f:
                f.write(profile)
        else:
            end = next((end for end in (".json", ".json.gz") if profile.endswith(end)), None)
            shutil.copyfile(profile, os.path.join(session, f"host.pt.trace{end}" if end else "host.xplane.pb"))
    return folder


def report(path, *options):
    made = subprocess.run([PROGRAM, "report", "-q", "--format=json", "--tracks", *options, path], capture_output=True, check=True)
    return json.loads(made.stdout)


def html(path, out, command="report"):
    subprocess.run([PROGRAM, command, "-q", "--format=html", "-o", out, path], check=True)
    return out


def ask(url, path, **fields):
    with get(f"{url.rstrip('/')}{path}?{urllib.parse.urlencode(fields)}") as answer:
        return json.loads(answer.read())


def get(url, **headers):
    return urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=PATIENCE_S)


@contextlib.contextmanager
def serving(*paths, program=PROGRAM):
    """tpusight serve on a port of its own; yields (address, process)."""
    server = children.start([program, "serve", "--port=0", *paths], stdout=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline()
        yield line.split(" at ")[1].split()[0], server
    finally:
        if server.poll() is None:
            server.terminate()
        server.wait(PATIENCE_S)
        server.stdout.close()


def node(script, *args, **options):
    """SCRIPT of this folder, run to its end; where it does not end, the test does, with what it printed until then."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    try:
        return subprocess.run(["node", os.path.join(HERE, script), *args], text=True, timeout=NODE_S, check=False, **options)
    except subprocess.TimeoutExpired as e:
        said = b"".join(filter(None, (e.stdout, e.stderr))).decode(errors="replace")  # bytes, of texts too
        sys.exit(f"{script} did not end within {NODE_S} s, and printed until then:\n{said}")


def drive(jobs, folder):
    """What page.mjs found: ({job: figures}, [what is wrong])."""
    path = os.path.join(folder, "jobs.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(jobs, f)
    done = node("page.mjs", path)
    if done.returncode == SKIP:
        skip(done.stderr.strip().removesuffix(": skipped"))
    if done.returncode not in (0, 1) or not done.stdout:
        return {}, [f"page.mjs ended with status {done.returncode}", done.stderr]
    return json.loads(done.stdout), done.stderr.splitlines()
