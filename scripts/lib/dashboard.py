"""Evaluates the dashboard and the alerts over metrics files, for scripts/check-dashboard: dashboard.py CHECKOUT FOLDER.

FOLDER has the files of two machines (one/*.prom, two/*.prom) and of a receiver (receiver-before, receiver-after). Each file is what
Prometheus scrapes for 37 hours; the puzzle's of the second machine from the 30th minute on.
"""
import glob, json, os, re, socket, subprocess, sys, time, urllib.error, urllib.parse, urllib.request

root, work = sys.argv[1:]
MINUTE, HOUR = 60, 3600
begin = int(time.time()) // MINUTE * MINUTE + MINUTE
APPS = ["com.example.game", "com.example.puzzle", "com.example.words"]
problems = []


def expect(found, wanted, what):
    if found != wanted:
        problems.append(f"{what}: {found}, not {wanted}")


SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def read(path):
    """The samples of a metrics file: (name, labels, value)."""
    found = [SAMPLE.match(line) for line in open(path) if not line.startswith("#")]
    return [(one[1], dict(LABEL.findall(one[2] or "")), float(one[3])) for one in found]


files = {path: read(path) for path in sorted(glob.glob(f"{work}/*/*.prom"))}


def start_of(path):
    return 30 * MINUTE if path.endswith("two/puzzle.prom") else 0


def openmetrics():
    """All samples of all moments, grouped by metric as the format asks."""
    series, seen = {}, set()
    for path, samples in files.items():
        machine = path.split("/")[-2]
        for name, labels, value in samples:
            # Of a sample that two files of a machine have, node_exporter takes one.
            key = (machine, name, *sorted(labels.items()))
            if key in seen:
                continue
            seen.add(key)
            moments = [(begin + t, value) for t in range(start_of(path), 37 * HOUR + 1, 4 * MINUTE)]
            series.setdefault(name, []).append(({**labels, "instance": machine, "job": "node"}, moments))
    counts = {}
    for path in ("receiver-before", "receiver-after"):
        for name, labels, value in read(f"{work}/{path}"):
            counts.setdefault((name, tuple(sorted(labels.items()))), {})[path] = value
    for (name, labels), values in counts.items():
        before, after = values.get("receiver-before", 0.0), values["receiver-after"]
        moments = [(begin + t, before if t < 38 * MINUTE else after) for t in range(0, 37 * HOUR + 1, MINUTE)]
        series.setdefault(name, []).append(({**dict(labels), "instance": "receiver", "job": "storeledger-receive"}, moments))
    series["up"] = [({"instance": "receiver", "job": "storeledger-receive"}, [(begin + t, 1.0) for t in range(0, 37 * HOUR + 1, MINUTE)])]
    for name, samples in series.items():
        yield f"# TYPE {name} unknown\n"
        for labels, moments in samples:
            text = ",".join(f'{key}="{value}"' for key, value in labels.items())
            yield from (f"{name}{{{text}}} {value!r} {moment}\n" for moment, value in moments)
    yield "# EOF\n"


with open(f"{work}/samples", "w") as out:
    out.writelines(openmetrics())
made = subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", f"{work}/samples", f"{work}/data"], capture_output=True, text=True)
if made.returncode:
    sys.exit(f"promtool: {made.stdout}{made.stderr}")
rules_file = f"{root}/docs/operations/alerts.yaml"
with open(f"{work}/prometheus.yml", "w") as out:
    json.dump({"rule_files": [rules_file], "global": {"evaluation_interval": "1s"}}, out)
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    address = f"127.0.0.1:{free.getsockname()[1]}"
log = open(f"{work}/prometheus.log", "w")
prometheus = subprocess.Popen(
    ["prometheus", f"--config.file={work}/prometheus.yml", f"--storage.tsdb.path={work}/data", f"--web.listen-address={address}",
     "--storage.tsdb.retention.time=10y"], stdout=log, stderr=log)


def ask(path, **query):
    url = f"http://{address}{path}?{urllib.parse.urlencode(query)}"
    try:
        return json.load(urllib.request.urlopen(url))["data"]
    except urllib.error.HTTPError as error:
        sys.exit(f"Prometheus: {error.read().decode()}: {query}")


def evaluate(expression, after):
    """The result of a query at a moment: labels and value."""
    found = ask("/api/v1/query", query=expression, time=begin + after)["result"]
    return [(one["metric"], float(one["value"][1])) for one in found]


def slug(heading):
    return re.sub(r"[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-")


def check_link(page, what):
    """Fails if a page of the docs, or its heading, is missing."""
    path, _, anchor = page.partition("#")
    path = f"{root}/docs/{path}"
    if not os.path.isfile(path):
        problems.append(f"{what}: there is no {page}")
    elif anchor and anchor not in [slug(line.lstrip("# ").strip()) for line in open(path) if line.startswith("#")]:
        problems.append(f"{what}: {page} has no such heading")


def newest(metric, per_job=True, **filters):
    """What a panel must show: the samples of the machine that read the job, or the app, last."""
    keys = ("app", "environment", "job_name") if per_job else ("app", "environment")
    when, found = {}, {}
    for path, samples in files.items():
        read_at = {tuple(l[k] for k in keys): v for n, l, v in samples if n == "storeledger_written_timestamp_seconds"}
        for name, labels, value in samples:
            if name != metric or any(not re.fullmatch(pattern, labels[key]) for key, pattern in filters.items()):
                continue
            subject = tuple(labels[k] for k in keys)
            if subject not in read_at or read_at[subject] < when.get(subject, 0):
                continue
            if read_at[subject] > when.get(subject, 0):
                when[subject] = read_at[subject]
                found = {k: v for k, v in found.items() if not set(subject) <= {x for _, x in k}}
            found[tuple(sorted(labels.items()))] = value
    return found


def table(result):
    return {tuple(sorted(labels.items())): value for labels, value in result}


def check_dashboard():
    dashboard = json.load(open(f"{root}/docs/operations/dashboard.json"))
    variables = [one["name"] for one in dashboard["templating"]["list"]]
    expect({"app", "job", "datasource", "docs"} - set(variables), set(), "variables that are missing")
    panels = {}
    for panel in dashboard["panels"]:
        what = f"panel {panel['id']} ({panel['title']})"
        expect(bool(panel.get("description")), True, f"{what} has a description")
        for link in panel["links"]:
            check_link(link["url"].removeprefix("${docs}/"), what)
        if panel["type"] == "stat":
            expect(bool(panel["fieldConfig"]["defaults"].get("thresholds")), True, f"{what} has thresholds")
        for target in panel["targets"]:
            every = target["expr"].replace("$app", ".*").replace("$job", ".*")
            found = evaluate(every, 40 * MINUTE)
            if not found:
                problems.append(f"{what} is empty")
            for labels, _ in found:
                expect("instance" in labels, False, f"{what} shows machines apart")
                missing = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) - set(labels)
                # A receiver's age names its app only if it has more than one.
                if missing and panel["id"] != 14:
                    problems.append(f"{what}: its legend names {missing}, which {labels} lacks")
            one = target["expr"].replace("$app", APPS[0]).replace("$job", ".*")
            # The run of the third app alone has not ended.
            if "$app" in target["expr"] and panel["id"] != 20:
                expect({labels.get("app") for labels, _ in evaluate(one, 40 * MINUTE)}, {APPS[0]}, f"{what} of one app")
            panels.setdefault((panel["id"], target["refId"]), table(found))
    for number, metric, per_job in [
        (3, "storeledger_rejected_records", True), (4, "storeledger_items", True), (5, "storeledger_requests_last_hour", False), (6, "storeledger_run_rows", True),
        (9, "storeledger_certificate_chains", False), (10, "storeledger_coverage_gaps", True), (15, "storeledger_receipt_seconds", False),
        (16, "storeledger_reconciled_notifications", False),
    ]:
        expect(panels[number, "A"], newest(metric, per_job), f"panel {number}, {metric}")
    exits = {dict(labels)["app"]: value for labels, value in panels[2, "A"].items()}
    expect(exits, {APPS[0]: 0.0, APPS[1]: 0.0, APPS[2]: -1.0}, "panel 2, the ends of the last processes")
    expect(list(panels[2, "B"].values()), [66.0], "panel 2, the job file that could not be read")
    expect([dict(labels)["app"] for labels in panels[20, "A"]], [APPS[2]], "panel 20, the runs that have not ended")
    expect(list(panels[18, "A"].values()), [1.0], "panel 18, the lost notification")
    codes = next(p for p in dashboard["panels"] if p["id"] == 2)["fieldConfig"]["defaults"]["mappings"][0]["options"]
    known = re.findall(r"^\| (\d+) \|", open(f"{root}/docs/reference/exit-codes.md").read(), re.MULTILINE)
    expect(sorted(set(codes) - {"-1"}), sorted(set(known)), "panel 2, the exit codes with a text")
    return sum(len(panel["targets"]) for panel in dashboard["panels"])


def check_alerts():
    groups = ask("/api/v1/rules")["groups"]
    while any(rule["lastEvaluation"].startswith("0001") for group in groups for rule in group["rules"]):
        time.sleep(0.2)
        groups = ask("/api/v1/rules")["groups"]
    rules = {rule["name"]: rule for group in groups for rule in group["rules"]}
    for name, rule in rules.items():
        expect(rule["health"], "ok", f"{name}: {rule.get('lastError', '')}")
        check_link(rule["annotations"]["runbook"].partition("/docs/")[2], name)

    def firing(after):
        """The alerts whose condition holds at a moment, and since their waiting time."""
        found = {}
        for name, rule in rules.items():
            now = {tuple(sorted(l.items())) for l, _ in evaluate(rule["query"], after)}
            if rule["duration"]:
                now &= {tuple(sorted(l.items())) for l, _ in evaluate(rule["query"], after - rule["duration"])}
            if now:
                found[name] = sorted(dict(labels).get("app", "") for labels in now)
        return found

    # The simulated apps report no external purchases.
    always = {
        "StoreLedgerFailed": [""],
        "StoreLedgerNotificationsLost": [APPS[0]],
        "StoreLedgerRejectedRecords": [APPS[0]],
        "StoreLedgerExternalPurchaseTokenDue": APPS[:2],
    }
    expect(firing(20 * MINUTE), {**always, "StoreLedgerFailedItems": [APPS[1]]}, "alerts after 20 minutes")
    expect(firing(55 * MINUTE), {**always, "StoreLedgerNoProgress": [APPS[2]]}, "alerts after 55 minutes")
    late = firing(36 * HOUR + 40 * MINUTE)
    expect(late.get("StoreLedgerSilent"), ["", *APPS[:2]], "silent jobs after 36 hours")
    expect(late.get("StoreLedgerNotComplete"), APPS[:2], "jobs that are not complete after 36 hours")
    expect("StoreLedgerFailed" in late, False, "a failure of two days ago pages")
    return len(rules)


try:
    while True:
        try:
            urllib.request.urlopen(f"http://{address}/-/ready")
            break
        except OSError:
            if prometheus.poll() is not None:
                sys.exit(f"prometheus ended: {open(log.name).read()}")
            time.sleep(0.1)
    queries, alerts = check_dashboard(), check_alerts()
finally:
    prometheus.terminate()
    prometheus.wait()
for problem in problems:
    print(f"scripts/check-dashboard: {problem}", file=sys.stderr)
if problems:
    sys.exit(1)
print(f"dashboard.json: {queries} queries, alerts.yaml: {alerts} alerts, evaluated in Prometheus for two machines, three apps and a receiver")
