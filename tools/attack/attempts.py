"""The list of attack requests as data; ``requests.py`` judges their answers."""

from __future__ import annotations

import json
from typing import Any

from tools.attack.client import ROOT, G

CLOSED = (  # unneeded routes of Gradio 6.31, which must be closed
    "/openapi.json", "/redoc", "/login", "/logout", "/svelte/{path:path}", "/pwa_icon",
    "/robots.txt", "/manifest.json", "/pwa_icon/{size}", "/monitoring/{key}",
    "/monitoring", "/monitoring/summary",
    *(G + path for path in (
        "/deep_link", "/user", "/login_check", "/token", "/dev/reload", "/runs",
        "/run-history/connect", "/run-history/buckets", "/run-history/records",
        "/run-history/records/{endpoint}/{record_id}/assets/{asset_id}", "/openapi.json",
        "/custom_component/{id}/{environment}/{type}/{file_name}", "/proxy={url_path:path}",
        "/stream/{event_id}", "/stream/{event_id}/close",
        "/stream/{session_hash}/{run}/{component_id}/playlist.m3u8",
        "/stream/{session_hash}/{run}/{component_id}/{segment_id}.{ext}",
        "/stream/{session_hash}/{run}/{component_id}/playlist-file", "/file/{path:path}",
        "/api/{api_name}", "/run/{api_name}", "/component_server", "/process_recording",
        "/vibe-edit", "/undo-vibe-edit", "/vibe-code", "/vibe-starter-queries",
    )),
)  # fmt: skip
METHODS = ("OPTIONS /", "DELETE /", "TRACE /", "POST /", f"PUT {G}/upload", f"GET {G}/mcp/")
INNER_EVENTS = ("on_open", "on_preview", "on_load", "lambda", "_", "predict", "nothing", "ask/ask")
LONG_NAMES = tuple(
    path + name
    for path in ("/static/", "/assets/", f"{G}/file=/tmp/", f"{G}/file=", f"{G}/heartbeat/")
    for name in ("x" * 256, "x" * 20_000, "%C3%A9" * 128)
)
FILES = (
    "/etc/passwd", "../../../etc/passwd", "..%2f..%2fetc/passwd", "/proc/self/environ",
    "/proc/self/cmdline", "file:///etc/passwd", "app.py", str(ROOT / "app.py"), ".git/config",
    f"{ROOT}/assets/../app.py", f"{ROOT}/pyproject.toml", "http://127.0.0.1:1/x",
    "https://a.example/x", "//a.example/x", "http:%2F%2F127.0.0.1/x", "%00", "/etc/shadow",
    "~/.ssh/id_rsa", "/etc/./passwd", "/etc//passwd", "/etc/passwd%00.mp4",
    "assets/../app.py", "\\\\server\\share", "/root/.cache/huggingface/token", "/tmp", "",
    "C:\\Windows\\win.ini", ".git",
)  # fmt: skip
# URL paths that every visitor may open
SHOWN = ("/", "/config", f"{G}/info", "/theme.css", f"{G}/startup-events")
OWN_FILES = (".lock", "assets", "assets/style.css", "assets/../app.py", "assets/%2e%2e/app.py")
EVIL = "evil.example"
NAMES: tuple[dict[str, str], ...] = (  # headers with which another site's page might send a request
    {"host": EVIL, "origin": f"http://{EVIL}"}, {"host": EVIL}, {"host": f"127.0.0.1.{EVIL}"},
    {"host": f"localhost.{EVIL}:7860"}, {"host": EVIL, "x-forwarded-host": "127.0.0.1"},
    {"x-forwarded-host": EVIL, "origin": f"http://{EVIL}"}, {"origin": f"http://{EVIL}"},
    {"origin": "null"}, {"origin": "http://["}, {"origin": "http://127.0.0.1:1"},
    {"origin": f"http://{EVIL}", "forwarded": f"host={EVIL}"},
)  # fmt: skip
HOSTS = (  # host headers that programs parse differently
    b"localhost/evil.example", b"localhost?evil", b"localhost#evil", b"user@localhost",
    b"lo\tcalhost", b'localhost"><script>', b"localhost:80:90", b"localhost:http",
    b"localhost,evil.example", b"localhost\\evil.example", b"127.1", b"0x7f000001",
    b"2130706433", b"localhost%00.evil.example", b"[::1%25eth0]", b"", b"localhost:99999",
)  # fmt: skip
PAGES = ("x", "x" * 9_000, "..%2fconfig", "%1b]0;x", "%C3%A9", "%ED%A0%80", "%00", "%FF", "&page=x")
ADDRESSES = (
    "http://127.0.0.1:1/x.mp4", "HTTPS://a.example/x", " ftp://a/x", "file:///etc/passwd",
    "http://a.example/gradio_api/file=http://b.example/x", "rtsp://a/x", "concat://a|b",
)  # fmt: skip
BODIES = (
    b'{"data": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", b'"' + b"x" * 3_000_000 + b'"',
    b"\xff\xfe", b"[]", b"", b'{"data": [NaN, Infinity]}',
)  # fmt: skip
SESSION_NAMES = ("a<gradio-sep>b", "", "x" * 65, "x" * 200_000, "../x", "a\nb", "é", "a b")
_LISTS = '["\u0122",' + "[]," * 30_000 + "0]"
_ADDRESS = json.dumps({"data": [{"path": "http://evil.example/x"}], "session_hash": "x"})
ENCODED = (  # JSON in encodings that hide its content, with a surrogate, with many digits
    *(text.encode(c) for text in (_LISTS, _ADDRESS) for c in ("utf-16", "utf-16-be", "utf-32")),
    _LISTS.encode("utf-8-sig"), _ADDRESS.encode("utf-8-sig"),
    b'{"data": ["\\ud800"]}', b'{"data": [' + b"9" * 5000 + b"]}",
)  # fmt: skip
FORM_CODINGS = ("punycode", "undefined", "unicode_escape", "utf-16", "utf-7", "base64")
PLAYLIST = b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n"
PART = b'--x\r\ncontent-disposition: form-data; name="files"%s\r\n\r\nx\r\n'
FILE = PART % b'; filename="a.mp4"'
FORM = FILE + b"--x--"
FORMS = (
    PART % b"", PART % b"" + b"y" * 2**20, FILE + PART % b"", FILE * 5, b"{}", b"--" + b"x" * 500,
    PART % b"; filename*=UTF-8''..%2fx", FILE.replace(b"; f", b";\r\n f"), FILE.replace(b"\r", b""),
    FILE.replace(b"\r\n\r\n", b"\r\n" + b"a: b\r\n" * 9000 + b"\r\n"), b"z" * 2**20 + FILE,
    PART % b'; name="other"; filename="a.mp4"',
)  # fmt: skip
_HOST, _CHUNKED = b"host: localhost\r\n", b"transfer-encoding: chunked\r\n"
_LONG, _POST = b"content-length: 4\r\n", b"POST /gradio_api/upload HTTP/1.1\r\n" + _HOST
_FORM = b"content-type: multipart/form-data; boundary=x\r\n"
WIRES = (  # malformed requests that must not be parsed in two ways
    _POST + _LONG + _CHUNKED + b"\r\n0\r\n\r\n",
    _POST + _LONG + b"content-length: 5\r\n\r\n{}{}",
    _POST + b"content-length:\r\n 4\r\n" + _CHUNKED + b"\r\n0\r\n\r\n",
    _POST + b"transfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
    _POST + _CHUNKED + _CHUNKED + b"\r\n0\r\n\r\n",
    _POST + b"content-length : 4\r\n\r\n{}{}",
    _POST + b"content-length: -4\r\n\r\n{}{}",
    b"GET /config HTTP/1.1\r\n" + _HOST + b"host: evil.example\r\n\r\n",
    b"GET /config HTTP/1.1\r\n\r\n",
    b"GET /config HTTP/1.0\r\nhost: evil.example\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + _HOST + b"x: a\x00b\r\n\r\n",
    b"GET /config\r\n\r\n",
    b"GET http://evil.example/ HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"CONNECT 127.0.0.1:22 HTTP/1.1\r\n" + _HOST + b"\r\n",
    b"GET * HTTP/1.1\r\n" + _HOST + b"\r\n",
    _POST + _CHUNKED + b"\r\n-1\r\n\r\n",
    _POST + _CHUNKED + b"\r\n2;" + b"a" * 300_000 + b"\r\n{}\r\n0\r\n\r\n",
    _POST + b"transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    *(_POST + b"content-length: " + length + b"\r\n\r\n{}" for length in (b"+2", b"0x2", b"2,3")),
    b"GET /healthz HTTP/1.1\r\nhost: localhost.\r\n\r\n",
    _POST + _FORM + b"content-length: 99999999999999\r\n\r\n",
)
UNFINISHED = (  # requests of clients that stop sending
    b"GET / HTTP/1.1\r\nhost: loc", b"", _POST + _FORM + b"content-length: 9999\r\n\r\n--x",
)  # fmt: skip
PATHS = (  # paths sent unnormalised, which an HTTP client would normalise
    "/static/../../app.py", "/static/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/static//etc/passwd",
    "/assets/..%2f..%2f..%2f..%2f..%2fetc/passwd", "/assets/..%5c..%5capp.py",
    "/static/....//....//etc/passwd", "/assets/%00", "//etc/passwd", "/./config/../config",
    "/config/", "/config;x", "/CONFIG", "/gradio_api/../config", "/gradio_api//queue/join",
    "/gradio_api/file=..", "/gradio_api/file=%2e%2e/%2e%2e/etc/passwd", "/%67radio_api/user",
    "/gradio_api/run/../component_server", "/gradio_api%2fcomponent_server", "/?view=api/../..",
)  # fmt: skip
ARGUMENTS: tuple[dict[str, Any], ...] = (  # invalid arguments of the endpoint ask
    {"question": None}, {"question": ["x"]}, {"question": "x" * 20_000}, {"compressor": []},
    {"compressor": "gzip"}, {"compressor": {}}, {"ratio": 0}, {"ratio": "half"}, {"ratio": -1},
    {"model": "../../etc"}, {"frames": 0}, {"frames": 10**9}, {"frames": "many"},
    {"settings": {"path": 1}}, {"settings": {"retention": []}}, {"seed": -1},
    {"temperature": 1e-320}, {"temperature": -1}, {"temperature": "hot"}, {"length": 10**9},
    {"top_p": 0}, {"pixels": -5}, {"settings": [1]}, {"settings": "ab"}, {"model": ["builtin"]},
    {"frames": True}, {"seed": 1.5}, {"length": 4.5},
)  # fmt: skip
ARGUMENTS += tuple(
    {"compressor": "by_hand", "settings": {"keep": keep}}
    for keep in ("256x256x256" + " 0-16777215" * 9000, "9x9x9 9-1", "0x0x0 0", "2x2x2", 5, None)
)
# invalid start times of a clip
TIMES = ("-5", "1e400", "nan", "9" * 9000, "0x10", "\0", [1], {})
JUNK: tuple[Any, ...] = (None, [], {}, "\u202e<script>", 10**18, {"path": None}, "x" * 50_000, True)
NAMED: tuple[Any, ...] = ({}, {"q": 1}, {"x" * 5000: 1}, [], [1], None, {"data": [1]}, {"\0": {}})
COUNTS = (0, 1, 2, 11)  # wrong numbers of positional values for ask, which takes 12
_NOISE = bytes(range(256)) * 20
CLIPS = {
    "a playlist.mp4": PLAYLIST, "ffconcat.mkv": b"ffconcat version 1.0\nfile /etc/passwd\n",
    "text.mp4": b"hello " * 100, "half.mp4": b"\x00\x00\x00\x20moov" + bytes(2000),
    "noise.mkv": b"\x1a\x45\xdf\xa3" + _NOISE, "noise.avi": b"RIFF\x00\x00\x00\x00AVI " + _NOISE,
    "noise.gif": b"GIF89a" + b"\xff" * 3000, "page.html": b"<script>alert(1)</script>",
    "picture.mp4": b"\x89PNG\r\n" + bytes(500),
}  # fmt: skip
NO_UPLOADS = (".lock", "tmp1", "x" * 300, f"{64 * 'a'}/{300 * 'x'}")
NOT_UPLOADED = (
    "/etc/passwd", str(ROOT / "app.py"), str(ROOT / "assets" / ".." / "app.py"), "../x.mp4",
    "http://127.0.0.1:1/x.mp4", "",
)  # fmt: skip
UPLOAD_NAMES = ("../../x.mp4", "/etc/cron.d/x", "..\\x.mp4", "a\r\nb.mp4", "x" * 5000, "CON", "..")
SCRIPTS = ("a.js", "a.mjs", "a.svg", "a.html", "a.xhtml", "a.xml", "a.css", "a.pdf", "a.wasm")
RANGES = ("bytes=9-1", "bytes=0-9-8", "bytes=" + "0-1," * 5000, "bytes=99999999-", "bytes=²-³")
MODELS: tuple[Any, ...] = ("evil/model", "../../etc", "", None, ["builtin"], {"path": "/etc"})
GATHERED: tuple[Any, ...] = (  # malformed settings: the page's script sends none of these
    None, [], {}, "x", 5, [1], [None] * 500, {"a": [1]}, "[" * 5000, [[[[]]]] * 90,
)  # fmt: skip
SESSIONS = ("", "x", "../x", "a" * 50_000, "%00")
EVENTS = ("x", "x" * 50_000, "%2e%2e", "0", "null", "a/b")
_JOINED = {"data": [], "fn_index": 0, "session_hash": "x"}
CANCELS: tuple[tuple[str, Any], ...] = (
    ("cancel", {"session_hash": "x", "fn_index": 0, "event_id": "y"}), ("cancel", {}),
    ("cancel", {"event_id": None}), ("queue/join", _JOINED | {"session_hash": None}),
    ("queue/join", _JOINED | {"fn_index": -1}), ("queue/join", _JOINED | {"fn_index": 10**30}),
    ("queue/join", _JOINED | {"data": None}),
)  # fmt: skip
CHECKPOINTS = (
    "/etc", "/etc/passwd", "../../../etc", "~root", "/proc/self/root", "\0", "file:///etc",
    "vllm:http://127.0.0.1:1", "vllm:file:///etc/passwd", "x" * 10_000, "", "builtin@2bit",
)  # fmt: skip
BOMBS = {  # saved runs whose JSON would take much memory
    "many lists": b"[" + b"[],[]," * 500_000 + b"[]]",
    "deep lists": b"[" * 500_000 + b"]" * 500_000,
    "a long text": b'"' + b"x" * 3_000_000 + b'"',
    "a text without end": b'"' + b'\\"' * 500_000,
}
