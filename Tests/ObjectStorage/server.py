"""server.py FOLDER: an S3 server on loopback (moto) that checks signatures and rights, and has faults.

When it listens, it writes the environment variables of a client to FOLDER/server.json. It adds a line for each request to
FOLDER/requests.txt. Before each request it reads FOLDER/faults.json, a list of rules: `method`, and `part`, which the target has;
`skip` and `times`, how many such requests; and the answer's `status`, `code` and `region`, with `late` after the
request took effect; or `hang`; or `hold`, until the rules change; or `drop`: the bucket is gone until the
rules change; or `delay`, so many seconds.
"""

import hashlib
import io
import json
import os
import pathlib
import sys
import threading
import time
from urllib.parse import urlsplit

from moto import settings
from moto.core.responses import ActionAuthenticatorMixin
from moto.iam import access_control
from moto.iam.models import iam_backends
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.s3.models import s3_backends
from moto.sts.models import sts_backends
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

ACCOUNT = "123456789012"
BUCKET = "ledger-bucket"
ALLOWED = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}

folder = pathlib.Path(sys.argv[1])
s3 = s3_backends[ACCOUNT]["aws"]
target = threading.local()
lock = threading.Lock()
counts: dict[str, int] = {}
text = ""
gone = False


# moto computes the signature of the decoded target, so it refuses a correct signature of a name with an equals sign.
def raw_request(self):
    signed = self._get_string_between("SignedHeaders=", ",", self._headers["Authorization"]).split(";")
    headers = self._create_headers_for_aws_request(signed, self._headers)
    request = access_control.AWSRequest(method=self._method, url=target.raw, data=self._body, headers=headers)
    request.context["timestamp"] = headers["X-Amz-Date"]
    return request


access_control.IAMRequestBase._create_aws_request = raw_request


def users() -> dict[str, dict[str, str]]:
    """The variables of a client with every right, with none, and with temporary credentials."""
    iam = iam_backends[ACCOUNT]["aws"]
    found = {}
    for name in ["owner", "stranger"]:
        iam.create_user("us-east-1", name)
        key = iam.create_access_key(name)
        found[name] = {"AWS_ACCESS_KEY_ID": key.access_key_id, "AWS_SECRET_ACCESS_KEY": key.secret_access_key}
    iam.put_user_policy("owner", "all", json.dumps(ALLOWED))
    role = iam.create_role("loader", json.dumps(ALLOWED), "/", None, "", [], "3600")
    iam.put_role_policy("loader", "all", json.dumps(ALLOWED))
    assumed = sts_backends[ACCOUNT]["aws"].assume_role("us-east-1", "session", role.arn, None, 3600, "")
    found["loader"] = {
        "AWS_ACCESS_KEY_ID": assumed.access_key_id,
        "AWS_SECRET_ACCESS_KEY": assumed.secret_access_key,
        "AWS_SESSION_TOKEN": assumed.session_token,
    }
    return found


def fault(request: Request) -> Response | None:
    global text, counts, gone
    path = folder / "faults.json"
    now = path.read_text() if path.exists() else "[]"
    with lock:
        if now != text:
            text, counts, gone = now, {}, False
        for number, rule in enumerate(json.loads(now or "[]")):
            if rule.get("method", request.method) != request.method or rule.get("part", "") not in target.raw:
                continue
            count = counts[number] = counts.get(number, 0) + 1
            if not rule.get("skip", 0) < count <= rule.get("skip", 0) + rule.get("times", 1_000_000):
                continue
            if rule.get("drop"):
                gone = True
                return None
            if rule.get("hang") or rule.get("hold"):
                with open(folder / "requests.txt", "a") as log:
                    log.write("hanging\n")
                break
            if rule.get("delay"):
                break
            if rule.get("late"):
                Response.from_app(moto, request.environ)
            region = f"<Region>{rule['region']}</Region>" if "region" in rule else ""
            body = rule.get("body") or (
                f"<Error><Code>{rule['code']}</Code><Message>{request.headers.get('Authorization')}</Message>{region}</Error>"
            )
            return Response(body, rule["status"], content_type="application/xml")
        else:
            return None
    if "delay" in rule:
        time.sleep(rule["delay"])
        return None
    while rule.get("hang") or path.read_text() == now:
        time.sleep(0.05)
    return None


@Request.application
def application(request: Request):
    target.raw = request.environ["RAW_URI"]
    with open(folder / "requests.txt", "a") as log:
        log.write(f"{request.method} {target.raw}\n")
    body = request.get_data()
    request.environ["wsgi.input"] = io.BytesIO(body)
    if (found := fault(request)) is not None:
        return found
    if request.headers.get("x-amz-content-sha256") not in (hashlib.sha256(body).hexdigest(), "UNSIGNED-PAYLOAD"):
        return Response("<Error><Code>XAmzContentSHA256Mismatch</Code></Error>", 400)
    # moto ends with status 500 in both cases.
    if (bucket := s3.buckets.get(urlsplit(target.raw).path.split("/")[1])) is None or gone:
        return Response("<Error><Code>NoSuchBucket</Code></Error>", 404)
    if "uploadId" in request.args and request.args["uploadId"] not in bucket.multiparts:
        return Response("<Error><Code>NoSuchUpload</Code></Error>", 404)
    return moto


class Handler(WSGIRequestHandler):
    # A client may keep its connection, and waits for 100 before it sends a large body.
    protocol_version = "HTTP/1.1"

    def log(self, *_):
        pass


os.environ.setdefault("MOTO_ALLOW_NONEXISTENT_REGION", "1")
moto = DomainDispatcherApplication(create_backend_app)
clients = users()
s3.create_bucket(BUCKET, "us-east-1")
settings.INITIAL_NO_AUTH_ACTION_COUNT = 0
ActionAuthenticatorMixin.request_count = 0
server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=Handler)
for client in clients.values():
    client |= {"AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{server.server_port}", "AWS_REGION": "us-east-1"}
(folder / "server.tmp").write_text(json.dumps(clients))
(folder / "server.tmp").rename(folder / "server.json")
print("listening", flush=True)
server.serve_forever()
