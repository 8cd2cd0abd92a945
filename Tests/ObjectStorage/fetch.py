"""fetch.py SERVER-FOLDER PREFIX FOLDER: downloads what is under a prefix of the bucket, and checks it against its manifest.

Prints one line for each object, then one for each unfinished upload, which begins with `upload`. Exit code 1 with a sentence if the
manifest names a file that is missing or different.
"""

import hashlib
import json
import os
import sys

import boto3

server, prefix, folder = sys.argv[1:]
with open(os.path.join(server, "server.json"), encoding="utf-8") as file:
    client = json.load(file)["owner"]
s3 = boto3.client(
    "s3",
    endpoint_url=client["AWS_ENDPOINT_URL_S3"],
    region_name=client["AWS_REGION"],
    aws_access_key_id=client["AWS_ACCESS_KEY_ID"],
    aws_secret_access_key=client["AWS_SECRET_ACCESS_KEY"],
)
bucket = "ledger-bucket"
content = {}
for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix + "/"):
    for entry in page.get("Contents", []):
        name = entry["Key"].removeprefix(prefix + "/")
        content[name] = s3.get_object(Bucket=bucket, Key=entry["Key"])["Body"].read()
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content[name])
        print(name)
for upload in s3.list_multipart_uploads(Bucket=bucket).get("Uploads", []):
    print("upload", upload["Key"])
named = json.loads(content.get("manifest.json", b'{"files": []}'))["files"]
for part in json.loads(content.get("_manifest.json", b'{"parts": []}'))["parts"]:
    named += part["files"] + part["tombstones"]
for entry in named:
    if hashlib.sha256(content.get(entry["file"], b"")).hexdigest() != entry["sha256"]:
        sys.exit(f"{entry['file']} is not the file of the manifest")
