"""The server contacts no other host: it starts and answers without any name lookup."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

from components.server.serving import ROOT

PROGRAM = """
import json, os, socket, sys, threading, time
asked = []

def listen(event, facts):
    if event == "socket.connect" or event == "socket.sendto":
        host = facts[1][0] if isinstance(facts[1], tuple) else "localhost"  # else a local file
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = facts[0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if host not in (None, "", "localhost", "127.0.0.1", "::1", "0.0.0.0", socket.gethostname()):
        asked.append([event, str(host)])

sys.addaudithook(listen)
import app, httpx
port = sys.argv[1]
threading.Thread(target=app.main, args=[["--port", port]], daemon=True).start()
root = f"http://127.0.0.1:{port}"
client = httpx.Client(timeout=120)
for _ in range(600):
    try:
        if client.get(root + "/healthz").status_code == 200:
            break
    except httpx.TransportError:
        time.sleep(0.2)
page = client.get(root).status_code
clip = open("assets/clips/glimpse_1.mp4", "rb").read()
api = root + "/gradio_api"
path = client.post(api + "/upload", files={"files": ("clip.mp4", clip)}).json()[0]
video = {"path": path, "meta": {"_type": "gradio.FileData"}}
told = {"video": video, "question": "What is there?", "frames": 8, "max_new_tokens": 4}
event = client.post(api + "/call/v2/ask", json=told).json()["event_id"]
answer = client.get(f"{api}/call/ask/{event}").text
heard = len(asked)
try:
    socket.getaddrinfo("elsewhere.invalid", 80)
except OSError:
    pass
assert asked[heard:] == [["socket.getaddrinfo", "elsewhere.invalid"]]
del asked[heard:]
print(json.dumps({"page": page, "answer": answer[:500], "asked": asked}), flush=True)
os._exit(0)
"""


def test_starting_and_answering_contact_no_other_host():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    names = {"GRADIO_ANALYTICS_ENABLED", "HF_HUB_OFFLINE", "GRADIO_TEMP_DIR"}
    kept = {name: value for name, value in os.environ.items() if name not in names}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(port)],
        cwd=ROOT,
        env=kept | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["page"] == 200 and "event: complete" in found["answer"]
    assert found["asked"] == []
