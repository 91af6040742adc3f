# SPDX-License-Identifier: LGPL-2.1-or-later
"""After it has dropped its privileges, the exporter lists and sends the recordings in a directory, and no other
files."""
import contextlib
import gzip
import json
import os
import tempfile

from exporter import Server, eventually

PAGE = b"<!doctype html>\n<title>subtick trace</title>\n" + b"0123456789" * 20000


def write(folder, name, data, age):
    path = os.path.join(os.fsencode(folder), os.fsencode(name))
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, 0o644)
    os.utime(path, (1e9 - age, 1e9 - age))
    return path


@contextlib.contextmanager
def recordings():
    """Creates a directory of recordings, and next to it a file that the exporter must not send."""
    with tempfile.TemporaryDirectory(prefix="subtick-traces-") as top:
        os.chmod(top, 0o755)
        folder = os.path.join(top, "traces")
        os.mkdir(folder, 0o755)
        write(top, "secret.html", b"secret", 0)
        write(folder, "new one.html", PAGE, 1)
        write(folder, b"bad\xff<b>.html", b"odd", 2)
        os.chmod(write(folder, "mine.html", b"secret", 3), 0o600)
        write(folder, ".hidden.html", b"secret", 4)
        write(folder, "notes.txt", b"secret", 5)
        os.symlink("../secret.html", os.path.join(folder, "link.html"))
        os.mkfifo(os.path.join(folder, "pipe.html"), 0o666)
        os.mkdir(os.path.join(folder, "dir.html"), 0o755)
        yield folder


def listed(server):
    status, _, body = server.get("/api/v1/traces")
    return json.loads(body) if status == 200 else {"traces": [], "status": status}


def check_list(server):
    report = listed(server)
    found = [(row["file"], row["size_bytes"]) for row in report["traces"]]
    # The exporter cannot read the recording mine.html. The list contains mine.html without a size,
    # and with advice to change the file mode.
    wanted = [("new one.html", len(PAGE)), ("bad\ufffd<b>.html", 3), ("mine.html", None)]
    if report.get("schema") != "subtick.traces/1" or found != wanted:
        yield f"{report}"
    elif "chmod a+r" not in report["traces"][2]["detail"] or report["traces"][0]["detail"]:
        yield f"detail: {report['traces']}"
    elif report["traces"][0]["written_unix_ns"] != int((1e9 - 1) * 1e9):
        yield f"written: {report['traces'][0]}"


def check_sent(server):
    for encoding, unpack in (("identity", bytes), ("gzip", gzip.decompress)):
        status, headers, body = server.get("/api/v1/traces/new%20one.html", {"Accept-Encoding": encoding})
        if status != 200 or unpack(body) != PAGE:
            yield f"{encoding}: {status}, {len(body)} bytes"
        # A browser must download the recording instead of showing it as a page of the exporter's site.
        if not headers["Content-Disposition"].startswith("attachment") or \
                headers["Content-Type"] != "application/octet-stream" or \
                "default-src 'none'" not in headers["Content-Security-Policy"]:
            yield f"{headers}"
    if server.get("/api/v1/traces/bad%FF%3Cb%3E.html")[2] != b"odd":
        yield "a name that is no UTF-8 is not found"


def check_refused(server):
    for name, code in (("mine.html", 403), ("link.html", 404), ("pipe.html", 404), ("dir.html", 404),
                       (".hidden.html", 404), ("notes.txt", 404), ("..%2Fsecret.html", 404), ("../secret.html", 404),
                       ("%2Fetc%2Fpasswd", 404), ("%2Fetc%2Fpasswd%00.html", 404), ("", 404), (".html", 404),
                       ("none.html", 404), ("new%20one.html%00", 404), ("x" * 4000 + ".html", 404)):
        status, _, body = server.get(f"/api/v1/traces/{name}")
        if status != code or b"secret" in body or b"root:" in body:
            yield f"{name[:40]}: {status} instead of {code}, {body[:80]!r}"


def check_traces():
    with recordings() as folder, Server("--collect", "load", "--traces", folder) as server:
        yield from check_list(server)
        yield from check_sent(server)
        yield from check_refused(server)
        # The exporter lists new files without a restart. The exporter does not send a file that is not a trace.
        write(folder, "later.html", b"later", -5)
        with open(os.path.join(folder, "huge.html"), "wb") as file:
            file.truncate(17 << 20)
        if server.get("/api/v1/traces/huge.html")[0] != 413:
            yield f"17 MiB: {server.get('/api/v1/traces/huge.html')[0]}"
        os.unlink(os.path.join(folder, "huge.html"))
        if listed(server)["traces"][0]["file"] != "later.html" or server.get("/api/v1/traces/later.html")[2] != b"later":
            yield f"a new recording: {listed(server)}"
        for number in range(200):
            write(folder, f"{number}.html", b"x", 100 + number)
        report = listed(server)
        if len(report["traces"]) != 200 or report["left_out_total"] != 4:
            yield f"{len(report['traces'])} of 204 listed, {report['left_out_total']} left out"


def check_no_traces():
    with Server("--collect", "load") as server:
        report = listed(server)
        if report["traces"] or not any("--traces DIR" in note for note in report["notes"]):
            yield f"without a directory: {report}"
        if server.get("/api/v1/traces/new%20one.html")[0] != 404:
            yield "without a directory there is a recording"
    with Server("--collect", "load", "--traces", "/nonexistent/dir", wait=False) as server:
        if not eventually(lambda: server.child.poll() is not None) or "cannot open the directory" not in server.text():
            yield f"a directory that is not there: exit {server.child.poll()}, {server.text()}"


def check_held():
    """Clients that request recordings and do not read the response use a bounded amount of memory."""
    with tempfile.TemporaryDirectory(prefix="subtick-traces-") as folder, contextlib.ExitStack() as stack:
        os.chmod(folder, 0o755)
        # Random bytes, which gzip cannot compress.
        write(folder, "big.html", os.urandom(15 << 20), 0)
        server = stack.enter_context(Server("--collect", "load", "--traces", folder))
        for _ in range(30):
            client = stack.enter_context(server.dial())
            client.sendall(b"GET /api/v1/traces/big.html HTTP/1.1\r\nHost: localhost\r\n\r\n")
        status, _, body = server.get("/metrics")
        held = [line for line in body.decode().split("\n") if line.startswith("subtick_http_response_bytes")]
        if status != 200 or not held:
            yield f"/metrics: {status}, {body[:100]!r}"
        # The exporter starts a recording of 15 MiB while its responses use less than 48 MiB, so two
        # recordings can exceed the limit.
        elif float(held[0].rsplit(" ", 1)[1]) > (48 + 2 * 15) << 20:
            yield f"{held[0]} although 48 MiB are the limit"


CHECKS = [
    ("recordings: listed and sent after the drop, and no other file", check_traces),
    ("recordings: none without a directory, which must be there", check_no_traces),
    ("recordings: clients that do not read them hold bounded memory", check_held),
]
