#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The jobs of docs/pods for Kubernetes and SLURM, as they stand there: jobs_test.py

Kubernetes: the containers' commands run one after the other on this machine; kubeconform looks the manifest over, where it is installed or
$TS_KUBECONFORM names it, and $TS_KUBE_SCHEMAS has the schemas of the PyPI package kubernetes_validate (the folder v1.33.0-local-strict).
SLURM: a controller and a node of this machine alone, where SLURM is installed and the test runs as root; else a stand-in for sbatch."""
import json
import os
import re
import shutil
import socket
import subprocess
import time
import unittest

import given
import package

PODS = os.path.join(package.ROOT, "docs", "pods")
MANIFEST = os.path.join(PODS, "kubernetes.yaml")
SCHEMAS = os.environ.get("TS_KUBE_SCHEMAS", "")
KUBECONFORM = os.environ.get("TS_KUBECONFORM") or shutil.which("kubeconform")
SLURM = ("munged", "slurmctld", "slurmd", "sbatch", "squeue")
HAS_SLURM = os.geteuid() == 0 and all(shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin") for name in SLURM)
HOSTS = 4
PATIENCE_S = 300
SLURM_CONF = """ClusterName=test
SlurmctldHost={host}
SlurmUser=root
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldPort={port}
SlurmdPort={port2}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MailProg=/bin/true
SchedulerParameters=sched_interval=1
NodeName={host} CPUs=2 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES State=UP
"""
# Runs a job when it is submitted: --array and --dependency as SLURM has them, one task after the other.
SBATCH = """#!/bin/sh
for word; do
	case $word in
	--array=*) last=${word#--array=0-} ;;
	--chdir=*) cd "${word#--chdir=}" || exit 1 ;;
	--dependency=afterok:*) grep -qx "${word#--dependency=afterok:}" "$TS_JOBS/done" || exit 1 ;;
	esac
	job=$word
done
number=$(($(cat "$TS_JOBS/number") + 1))
echo $number >"$TS_JOBS/number"
for index in $(seq 0 "${last:-0}"); do
	SLURM_ARRAY_TASK_ID=$index sh -c "$job" >&2 || exit 1
done
echo $number >>"$TS_JOBS/done"
echo $number
"""


def jobs_of_manifest():
    """(round, number of indices or None, the container's script) of each Job."""
    with open(MANIFEST, encoding="utf-8") as f:
        documents = f.read().split("\n---\n")
    for text in documents:
        count = re.search(r"^  completions: (\d+)$", text, re.M)
        script = re.search(r"^          args:\n            - \|\n((?: {14}.*\n)+)", text, re.M).group(1)
        yield (int(re.search(r'tpusight/round: "(\d)"', text).group(1)), int(count.group(1)) if count else None,
               "".join(line[14:] for line in script.splitlines(True)))


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Jobs(given.Given):
    def setUp(self):
        super().setUp()
        self.environment = dict(os.environ, PATH=f"{os.path.dirname(package.PROGRAM)}:{os.environ['PATH']}:/usr/sbin")
        self.logs = os.path.join(self.session(given.hosts(HOSTS)), given.SESSION)

    def damage(self):
        with open(os.path.join(self.logs, "host0001.xplane.pb"), "wb") as f:
            f.write(b"not a profile at all")

    def run_manifest(self, status):
        pod = self.path("pod")
        os.mkdir(pod)
        with open(os.path.join(pod, "hosts.txt"), "w") as f:
            f.write("".join(f"{self.logs}/{name}\n" for name in sorted(os.listdir(self.logs))))
        for _, count, script in sorted(jobs_of_manifest()):
            self.assertIn("cd /pod\n", script)
            for index in range(count or 1):
                subprocess.run(["/bin/sh", "-ec", script.replace("cd /pod\n", f"cd {pod}\n")], check=True, stderr=subprocess.DEVNULL,
                               env=dict(self.environment, JOB_COMPLETION_INDEX=str(index)))
        self.assert_same(self.of_one_machine(self.logs, status), os.path.join(pod, "report.json"))

    def test_the_jobs_of_kubernetes_make_the_report_of_one_machine(self):
        self.assertEqual([job[:2] for job in jobs_of_manifest()], [(1, HOSTS), (2, None), (3, HOSTS), (4, None)])
        self.run_manifest(given.DONE)

    def test_a_damaged_file_does_not_fail_the_jobs_of_kubernetes(self):
        self.damage()
        self.run_manifest(given.SOME)

    @unittest.skipUnless(KUBECONFORM and os.path.isdir(SCHEMAS), "kubeconform is not there, or TS_KUBE_SCHEMAS")
    def test_the_manifest_is_one_of_kubernetes(self):
        with open(os.path.join(SCHEMAS, "job-batch-v1.json")) as f:
            job = json.loads(f.read().replace("/api/_definitions.json#", "#"))
        with open(os.path.join(SCHEMAS, "_definitions.json")) as f:
            job["$defs"] = json.loads(f.read().replace("/api/_definitions.json#", "#"))["$defs"]
        del job["$id"]
        with open(self.path("job-batch-v1.json"), "w") as f:
            json.dump(job, f)
        check = [KUBECONFORM, "-strict", "-schema-location", self.path("{{.ResourceKind}}{{.KindSuffix}}.json")]
        done = subprocess.run([*check, MANIFEST], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        with open(MANIFEST) as f, open(self.path("wrong.yaml"), "w") as wrong:
            wrong.write(f.read().replace("completionMode", "completeMode"))
        self.assertNotEqual(subprocess.run([*check, self.path("wrong.yaml")], capture_output=True, check=False).returncode, 0)

    def submit(self):
        done = subprocess.run([os.path.join(PODS, "slurm.sh"), self.logs, self.output, self.path("made")], env=self.environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def use_stand_in(self):
        os.mkdir(self.path("bin"))
        for name, text in ("number", "0"), ("done", ""), ("sbatch", SBATCH):
            with open(self.path("bin", name), "w") as f:
                f.write(text)
        os.chmod(self.path("bin", "sbatch"), 0o755)
        self.environment.update(PATH=self.path("bin") + ":" + self.environment["PATH"], TS_JOBS=self.path("bin"))

    def test_the_steps_of_slurm_make_the_report_of_one_machine(self):
        self.use_stand_in()
        self.damage()
        self.assertEqual(self.submit(), "4")
        self.assert_same(self.of_one_machine(self.logs, given.SOME), self.output)
        for name in os.listdir(self.logs):
            os.unlink(os.path.join(self.logs, name))
        done = subprocess.run([os.path.join(PODS, "slurm.sh"), self.logs, self.output], env=self.environment, capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, given.NOTHING)
        self.assertIn("no profile is there", done.stderr)

    def start_slurm(self):
        folder = self.path("slurm")
        for name in "state", "spool":
            os.makedirs(os.path.join(folder, name))
        with open(self.path("munge.key"), "wb") as f:
            f.write(os.urandom(1024))
        os.chmod(self.path("munge.key"), 0o400)
        with open(os.path.join(folder, "slurm.conf"), "w") as f:
            f.write(SLURM_CONF.format(folder=folder, host=socket.gethostname().split(".")[0], port=free_port(), port2=free_port()))
        self.environment["SLURM_CONF"] = os.path.join(folder, "slurm.conf")
        munge = [f"--{name}-file={folder}/munge.{name}" for name in ("pid", "log", "seed")]
        for command in (["munged", "-F", "--force", f"--socket={folder}/munge.socket", f"--key-file={self.path('munge.key')}", *munge],
                        ["slurmctld", "-D", "-c"], ["slurmd", "-D", "-c"]):
            with open(os.path.join(folder, command[0] + ".log"), "w") as log:
                daemon = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)
            self.addCleanup(self.end, daemon)

    def end(self, daemon):
        daemon.terminate()
        daemon.wait(PATIENCE_S)

    def asked(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False).stdout

    def wait_for(self, condition):
        begin = time.monotonic()
        while not condition():
            self.assertLess(time.monotonic() - begin, PATIENCE_S)
            time.sleep(0.2)

    @unittest.skipUnless(HAS_SLURM, "SLURM is not installed (slurm-wlm), or the test does not run as root")
    def test_the_jobs_of_slurm_make_the_report_of_one_machine(self):
        self.start_slurm()
        self.wait_for(lambda: "idle" in self.asked("sinfo", "-h", "-o", "%t"))
        job = self.submit()
        self.wait_for(lambda: job not in self.asked("squeue", "-h", "-o", "%A").split())
        self.assertIn("JobState=COMPLETED", self.asked("scontrol", "show", "job", job))
        self.assert_same(self.of_one_machine(self.logs), self.output)


if __name__ == "__main__":
    package.main()
