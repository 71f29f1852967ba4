#!/usr/bin/env python3
"""Speaks the protocol of workers/subtitles/speech/hear.py, for faults that a real model does not have at will.

It is run in place of the interpreter: script, model folder, device, compute type, threads. `fake.json` in the folder of the
model has its faults; each sound that is heard is noted in `heard.log`.
"""

import hashlib
import json
import os
import signal
import socket
import sys
import time

SAMPLE = """The people of this house like to watch films in the evening. Some of them read the words on the screen while
they listen. A small machine in the cellar hears each film once, and writes down what is said. It does not guess what it
cannot hear. When the film is over, everyone has a cup of tea and talks about the story. In the morning the children find
the same film with words in their own language. Nobody had to look for them, and nobody had to wait."""
# Of the 25.3 seconds that the worker sends first.
SAMPLE_BYTES = 809600
_, _, folder, device, compute_type, _ = sys.argv
orders = json.load(open(os.path.join(folder, "fake.json")))


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def note(text):
    with open(os.path.join(folder, "heard.log"), "a") as log:
        log.write(text + "\n")


def segment(text, words):
    return {"text": text, "compression": 1.0, "noSpeech": 0.0, "words": words}


def heard(data, language):
    seconds = len(data) / 32000
    mark = hashlib.sha256(data).hexdigest()[:6]
    words = [[at, at + 0.4, f" {language}{mark}{at}"] for at in range(int(seconds))]
    return [segment("".join(word for _, _, word in words), words)]


gpu = orders.get("gpu")
if device == "cuda" and not gpu:
    say({"error": {"reason": "no-gpu", "message": "no CUDA device"}})
    sys.exit(1)
if device == "cuda" and gpu == "memory":
    say({"error": {"reason": "memory", "message": "CUDA failed with error out of memory"}})
    sys.exit(1)
if device == "cuda" and gpu == "half" and compute_type == "float16":
    say({"error": {"reason": "memory", "message": "CUDA failed with error out of memory"}})
    sys.exit(1)
if os.path.exists(os.path.join(folder, "..", "killed")):
    os.kill(os.getpid(), signal.SIGKILL)
say({"loaded": {"languages": ["en", "de", "jw"]}})
secrets = os.environ.get("FOYER_DATABASE_URL", "no secrets")
network = [name for _, name in socket.if_nameindex() if name != "lo"] or "no network"
note(f"loaded {device} {compute_type} {secrets} {network}")
while line := sys.stdin.buffer.readline():
    order = json.loads(line)
    data = sys.stdin.buffer.read(order["bytes"])
    if order["op"] == "detect":
        say({"languages": [[orders.get("language", "en"), 0.9]]})
        continue
    if SAMPLE_BYTES - 20000 < len(data) < SAMPLE_BYTES + 20000:
        say({"language": "en", "segments": [segment("!!!" if gpu == "nonsense" and device == "cuda" else SAMPLE, [])]})
        continue
    note(f"hear {order['language']} {order['task']} {hashlib.sha256(data).hexdigest()[:6]}")
    time.sleep(orders.get("slow", 0))
    if device == "cuda" and gpu == "later":
        say({"error": {"reason": "memory", "message": "cuBLAS failed with status CUBLAS_STATUS_ALLOC_FAILED"}})
        continue
    if orders.get("dies"):
        os._exit(9)
    say({"language": order["language"], "segments": heard(data, order["language"])})
