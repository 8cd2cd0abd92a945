import FoundationEssentials
import Glibc
import Postgres
import TestSupport
import Testing

/// What keeps a job running, and shows how it runs.
@Suite(.temporaryDatabase)
struct OperationTests {
    /// A job whose list names one ID that Apple does not know.
    private static func jobWithUnknownID(_ stage: Stage) async throws -> String {
        var job = stage.job
        job.csv = "{directory: out, tables: [transactions]}"
        let list = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8)
        try stage.write("\(list)999999999999\n", to: "more.csv")
        job.transactionIds = "csv: {path: more.csv, column: transaction_id}"
        job.streams = ["transactionHistory: {}"]
        return try await stage.migrated(job)
    }

    @Test func `retry requests only failed items`() async throws {
        try await Stage.with(.init(customers: 5)) { stage in
            let job = try await Self.jobWithUnknownID(stage)
            try await stage.run(job, expecting: 2)
            let before = try await stage.store.requests().total
            let status = try await stage.storeledger("status", job).output
            #expect(status.contains("\n  retry: storeledger retry \(job) requests 1 failed item again\n"), "\(status)")

            let again = try await stage.storeledger("retry", job, "--progress", "none")

            #expect(again.code == 2 && again.output.contains("items              1 (0 done, 1 failed)"), "\(again)")
            let asked = try await stage.store.requests().arrivals.dropFirst(before)
            #expect(asked.compactMap(\.transactionId) == ["999999999999"])
            // An item that failed for a passing reason is loaded, and then nothing is left to retry.
            try await stage.book().with {
                try $0.script(
                    "UPDATE crawl_items SET state = 'failed' WHERE item_key IN (SELECT min(item_key) FROM crawl_items)"
                )
                try $0.script("UPDATE crawl_items SET state = 'done' WHERE item_key = '999999999999'")
            }
            let mended = try await stage.storeledger("retry", job, "--progress", "none")
            #expect(mended.code == 0 && mended.output.contains("items              1 (1 done, 0 failed)"), "\(mended)")
            let none = try await stage.storeledger("retry", job, "--progress", "none")
            #expect(none.code == 0 && none.output == "nightly: no item has failed, so there is nothing to retry\n")
            #expect(try await !stage.storeledger("status", job).output.contains("  retry: "))
            // The next run has all items.
            #expect(
                try await stage.storeledger("run", job, "--progress", "none").output.contains("items              6 ")
            )
        }
    }

    @Test func `an ID that Apple does not know and that has left the list is neither counted nor retried`()
        async throws
    {
        try await Stage.with(.init(customers: 5)) { stage in
            let job = try await Self.jobWithUnknownID(stage)
            try await stage.run(job, expecting: 2)
            // A list that is empty by mistake does not count as one without the ID.
            let list = try String(contentsOfFile: stage.store.directory + "/ids.csv", encoding: .utf8)
            try stage.write("transaction_id\n", to: "more.csv")
            try await stage.run(job, expecting: 2)
            let empty = try await stage.storeledger("status", job).output
            #expect(empty.contains("\n  retry: storeledger retry \(job) requests 1 failed item again\n"), "\(empty)")

            try stage.write(list, to: "more.csv")
            let file = stage.directory + "/storeledger.prom"
            let clean = try await stage.storeledger("run", job, "--metrics-file", file)
            #expect(clean.code == 0, "\(clean)")

            let status = try await stage.storeledger("status", job).output
            #expect(!status.contains("unknown to Apple") && !status.contains("  retry: "), "\(status)")
            let metrics = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
            #expect(
                metrics.contains { $0.hasPrefix("storeledger_retryable_items{") && $0.hasSuffix(" 0") },
                "\(metrics)"
            )
            #expect(metrics.count { $0.hasPrefix("storeledger_table_bytes{") } == 10, "\(metrics)")
            let retry = try await stage.storeledger("retry", job)
            #expect(retry.code == 0 && retry.output == "nightly: no item has failed, so there is nothing to retry\n")
        }
    }

    @Test func `a run continues with its failed items after a retry has taken them and stopped`() async throws {
        try await Stage.with(.init(customers: 5)) { stage in
            let job = try await Self.jobWithUnknownID(stage)
            let out = stage.store.directory + "/out"
            try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: false)
            let taken = unsafe open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            try #require(flock(taken, LOCK_EX) == 0)

            let code = try await stage.withStoreledger(["run", job]) { run in
                // Every item has ended by then, and the run waits for the process that writes into the directory.
                #expect(await run.errorLine(with: "writing CSV files") != nil)
                try await stage.book().with {
                    // The state in which a killed retry leaves the items.
                    try $0.script(
                        "UPDATE crawl_items SET state = 'waiting', claimable_at = now(), finished_at = NULL WHERE state = 'failed'"
                    )
                }
                close(taken)
                return await run.wait()
            }

            #expect(code == 2)
            #expect(try await stage.book().count("SELECT count(*) FROM crawl_items WHERE state = 'waiting'") == 0)
            let asked = try await stage.store.requests().arrivals.count { $0.transactionId == "999999999999" }
            #expect(asked == 2)
        }
    }

    @Test func `status shows what is stored, who signed it, and what is unfinished`() async throws {
        try await Stage.with(.init(customers: 5)) { stage in
            let job = try await Self.jobWithUnknownID(stage)
            try await stage.run(job, expecting: 2)
            try await stage.book().with {
                try $0.script("UPDATE rate_scopes SET closed_until = now() + interval '1 hour'")
                try $0.script(
                    "UPDATE crawl_items SET state = 'waiting', claimable_at = now(), complete_until = NULL WHERE item_key = '999999999999'"
                )
            }
            let text = try await stage.storeledger("status", job).output
            #expect(
                text.contains(
                    "  oldest unfinished: transactionHistory 999999999999, not complete yet, waiting, can be requested from 2"
                ),
                "\(text)"
            )
            #expect(text.contains("  certificates: records are signed with 1 chain, the newest since "), "\(text)")
            #expect(text.contains("  storage: ") && text.contains(" transactions "), "\(text)")
            struct Status: Decodable {
                struct Budget: Decodable {
                    let endpoint: String
                    let lastHour: Int
                    let closedUntil, opensAt: String?
                }
                struct Oldest: Decodable { let item: String }
                struct Storage: Decodable { let bytes: Int }
                let budget: [Budget]
                let oldestUnfinished: Oldest?
                let storage: [Storage]
            }
            let json = try await stage.storeledger("status", job, "--json").output
            let status = try JSONDecoder().decode(Status.self, from: Data(json.utf8))
            #expect(status.oldestUnfinished?.item == "999999999999")
            #expect(status.budget.allSatisfy { $0.opensAt != nil && $0.opensAt == $0.closedUntil && $0.lastHour > 0 })
            #expect(status.storage.allSatisfy { $0.bytes > 0 } && status.storage.count > 10)
        }
    }

    @Test func `status --watch shows again what it shows until it is interrupted`() async throws {
        try await Stage.with(.init(customers: 2)) { stage in
            let job = try await stage.migrated(stage.job)
            try await stage.run(job)
            try await stage.withStoreledger(["status", job, "--watch", "--json"]) { process in
                try await poll { process.output.split(separator: "\n").count >= 2 || process.hasEnded }
                process.signal(SIGINT)
                #expect(await process.wait() == 0, "\(process.errors)")
                #expect(process.output.split(separator: "\n").allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
            }
        }
    }

    @Test(arguments: [true, false])
    func `status --watch warns once, keeps its session, and takes another when that is lost`(namesJob: Bool)
        async throws
    {
        try await Stage.with(.init(customers: 2)) { stage in
            try await stage.run(try await stage.migrated(stage.job))
            // A password in the job file causes a warning.
            let unwise = "${DATABASE_URL}&password=\(Stage.plantedPassword)"
            let path = try stage.write(stage.job.text.replacing("${DATABASE_URL}", with: unwise), to: "unwise.yaml")
            let arguments = namesJob ? ["status", path, "--watch", "--json"] : ["status", "--watch", "--json"]
            try await stage.withStoreledger(arguments) { process in
                func documents(_ count: Int) async throws {
                    try await poll { process.output.split(separator: "\n").count >= count || process.hasEnded }
                }
                let sessions = """
                    SELECT pid::text FROM pg_stat_activity
                     WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY 1
                    """
                let book = try stage.book()
                try await documents(1)
                let first = try await book.column(sessions)
                try await documents(3)
                #expect(try await book.column(sessions) == first && !first.isEmpty)

                try await book.with {
                    try $0.script(
                        "SELECT pg_terminate_backend(pid::integer) FROM unnest('{\(first.joined(separator: ","))}'::integer[]) pid"
                    )
                }
                try await documents(5)
                let later = try await book.column(sessions)
                #expect(!later.isEmpty && Set(later).isDisjoint(with: first))
                process.signal(SIGINT)
                #expect(await process.wait() == 0, "\(process.errors)")
                let warnings = process.errors.split(separator: "\n").count { $0.contains("warning") }
                #expect(warnings == (namesJob ? 1 : 0), "\(process.errors)")
            }
        }
    }

    private struct Record: Decodable {
        let time, level, message: String
        let run, item, exitCode, pages: String?
    }

    @Test func `a log as JSON has one object for each event, with time, level and fields`() async throws {
        try await Stage.with(.init(customers: 3)) { stage in
            let job = try await Self.jobWithUnknownID(stage)
            let log = try await stage.storeledger("run", job, "--log-format", "json", "--log-level", "debug")
            #expect(log.code == 2)
            let records = try log.errorLines.map { try JSONDecoder().decode(Record.self, from: Data($0.utf8)) }
            #expect(records.allSatisfy { $0.time.hasSuffix("Z") && $0.time.contains(".") })
            #expect(records.first?.level == "info" && records.first?.run == "1")
            #expect(records.contains { $0.level == "warning" && $0.item == "999999999999" })
            #expect(records.count { $0.level == "debug" && $0.message.hasPrefix("page of ") } >= 3)
            #expect(records.last?.message == "nightly: run 1 complete, but data is missing")
            #expect(records.last?.exitCode == "2")
            // If a run cannot continue, the last log record says why.
            let failed = try await stage.storeledger(
                "run",
                job,
                "--log-format",
                "json",
                environment: ["DATABASE_URL": stage.databaseURL(database: "nowhere")]
            )
            let last = try JSONDecoder().decode(Record.self, from: Data((failed.errorLines.last ?? "").utf8))
            #expect(failed.code == 78 && last.level == "error" && last.exitCode == "78")
        }
    }

    @Test func `without a terminal a run shows events, and no progress`() async throws {
        try await Stage.with(.init(customers: 3)) { stage in
            let job = try await stage.migrated(stage.job)
            let run = try await stage.storeledger("run", job)
            #expect(run.code == 0 && run.errorLines.first?.hasPrefix("starting run 1: ") == true, "\(run.errors)")
            #expect(run.errorLines.dropFirst() == ["bringing the views up to date"])
        }
    }

    @Test func `the file for Prometheus is complete, in its format, and has the ledger's figures`() async throws {
        try await Stage.with(.init(customers: 5)) { stage in
            let job = try await Self.jobWithUnknownID(stage)
            let file = stage.directory + "/storeledger.prom"
            // Another user collects the file, so its mode must not depend on the umask.
            let arguments = [Executables.storeledger, "run", job, "--progress", "none", "--metrics-file", file]
            try await withChildProcess(
                "/bin/sh",
                ["-c", "umask 077; exec \"$0\" \"$@\""] + arguments,
                environment: ["DATABASE_URL": stage.databaseURL()]
            ) { process in
                let code = await process.wait()
                #expect(code == 2, "\(process.errors)")
            }
            #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o644)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            let rows = try await stage.book().count("SELECT count(*) FROM transactions")
            let labels = #"app="com.example.game",environment="Production",job_name="nightly""#
            for line in [
                "storeledger_run_exit_code{\(labels)} 2", "storeledger_run_rows{\(labels),change=\"new\"} \(rows)",
                "storeledger_items{\(labels),stream=\"transactionHistory\",state=\"failed\"} 1",
                "storeledger_retryable_items{\(labels)} 1", "# TYPE storeledger_run_rows gauge",
            ] { #expect(text.split(separator: "\n").contains(Substring(line)), "\(line) is not in \(text)") }
            // Every sample follows the type of its name, and every line ends.
            var name = ""
            for line in text.split(separator: "\n") {
                if line.hasPrefix("# TYPE ") { name = String(line.split(separator: " ")[2]) }
                if !line.hasPrefix("#") { #expect(line.prefix { $0 != "{" && $0 != " " } == name, "\(line)") }
            }
            #expect(text.hasSuffix("\n"))
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: stage.directory).filter { $0.contains("prom") } == [
                    "storeledger.prom"
                ]
            )
            // A metrics file that cannot be written is reported, but does not change the exit code of the run.
            let unwritable = try await stage.storeledger(
                "run",
                job,
                "--metrics-file",
                stage.directory + "/no/such/file"
            )
            #expect(unwritable.code == 2 && unwritable.errors.contains("--metrics-file"), "\(unwritable.errors)")
            // It does change the exit code of status.
            let path = stage.directory + "/no/such/file"
            let status = try await stage.storeledger("status", job, "--metrics-file", path)
            #expect(status.code == 73, "\(status)")
            #expect(
                status.errors
                    == "storeledger: cannot create \(path): No such file or directory. Name a path that this account can write\n"
            )
        }
    }

    @Test func `init writes a job that runs, and prompts for missing values`() async throws {
        try await Stage.with(.init(customers: 3)) { stage in
            let own = try String(contentsOfFile: stage.store.directory + "/job.yaml", encoding: .utf8)
            func value(_ key: String) -> String {
                let line = own.split(separator: "\n").first { $0.contains("\(key):") } ?? ""
                return line.split(separator: ":", maxSplits: 1).last.map { $0.filter { $0 != "\"" && $0 != " " } } ?? ""
            }
            let file = stage.store.directory + "/mine.yaml"
            let arguments = [
                "--bundle-id", value("bundleId"), "--app-apple-id", value("appAppleId"), "--issuer-id",
                value("issuerId"),
                "--key-id", value("keyId"), "--private-key-file", value("privateKeyFile"), "--ids-csv", "ids.csv",
                "--share", "1",
            ]
            func initialize(_ arguments: [String]) async throws -> (code: Int32, told: String) {
                try await stage.withStoreledger(["init", file] + arguments) { process in
                    let code = await process.wait()
                    return (code, process.output + process.errors)
                }
            }
            let missing = try await initialize(Array(arguments.dropFirst(2)))
            #expect(missing.code == 64 && missing.told.contains("--bundle-id"), "\(missing)")
            let bad = try await initialize(arguments + ["--changed-since", "lastRun"])
            #expect(bad.code == 64, "\(bad)")
            #expect(!FileManager.default.fileExists(atPath: file))
            let made = try await initialize(arguments)
            #expect(made.code == 0 && !made.told.contains("does not exist"), "\(made)")
            let text0 = try String(contentsOfFile: file, encoding: .utf8)
            let absent = try await initialize(
                arguments + ["--ids-csv", "none.csv", "--private-key-file", "none.p8", "--force"]
            )
            for name in ["the key file", "the ID list"] {
                let path = stage.store.directory + (name == "the key file" ? "/none.p8" : "/none.csv")
                let warning = "storeledger: warning: \(name) \(path) does not exist; put it there before the next"
                #expect(absent.code == 0 && absent.told.contains(warning), "\(absent)")
            }
            try stage.write(text0, to: "mine.yaml")
            #expect(try await initialize(arguments).code == 73)
            #expect(try await initialize(arguments + ["--force"]).code == 0)
            #expect(try await stage.storeledger("validate", file).code == 0)
            #expect(try String(contentsOfFile: file, encoding: .utf8).contains("\n  # subscriptionStatuses: {}\n"))
            // The simulator's address and root; against Apple nothing has to be added.
            let text = try String(contentsOfFile: file, encoding: .utf8)
            let rehearsal = "appStore:\n  baseURL: \(value("baseURL"))\n  trustedRoots: [root.cer]\n"
            try stage.write(text.replacing("appStore:\n", with: rehearsal), to: "mine.yaml")
            #expect(try await stage.storeledger("migrate", file).code == 0)
            let run = try await stage.storeledger("run", file)
            #expect(run.code == 0 && run.output.hasPrefix("mine: run 1 complete"), "\(run)")
        }
    }

    private static let script = "/usr/bin/script"

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: script), "script of bsdutils is not installed"))
    func `init asks on a terminal for what no option says, and takes its own suggestions`() async throws {
        try await withTemporaryDirectory { directory in
            // Environment, key file and list are left empty. The first answers to three questions are refused.
            let answers =
                #"no bundle\ncom.example.game\nsandbox\n\nten\n1234567890\n57246542-96fe-1a63-e053-0824d011072a\n2X9R4HXF34\n\n\n"#
            let line = #"cd "$3" && printf '\#(answers)' | "$1" -qec "$2 init asked.yaml --share 0.25" /dev/null"#
            try await withChildProcess(
                "/bin/sh",
                ["-c", line, "sh", Self.script, Executables.storeledger, directory],
                environment: ["PATH": "/usr/bin:/bin", "TERM": "dumb"]
            ) { process in
                let code = await process.wait()
                let told = process.output
                #expect(code == 0 && told.contains("Production or Sandbox [Production]: "), "\(told)")
                for key in ["app.bundleId", "app.environment", "app.appAppleId"] {
                    #expect(told.components(separatedBy: "\(key) is ").count == 2, "\(key): \(told)")
                }
            }
            let text = try String(contentsOfFile: directory + "/asked.yaml", encoding: .utf8)
            for line in [
                "name: asked", "  environment: \"Production\"", "  privateKeyFile: \"SubscriptionKey_2X9R4HXF34.p8\"",
                "  changedSince: \"lastRun\"", "  share: 0.25",
            ] { #expect(text.contains("\n\(line)\n"), "\(line) is not in \(text)") }
        }
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: script), "script of bsdutils is not installed"),
        arguments: [#"\003"#, #"\004"#]
    )
    func `Ctrl-C and Ctrl-D end init's questions with one line, and nothing is written`(key: String) async throws {
        try await withTemporaryDirectory { directory in
            // The key is sent when the second question is on the terminal. If it has no effect, the answer after it leads to the
            // third question, and Ctrl-D ends the command.
            let line = #"""
                cd "$3" && mkfifo keys && exec 3<>keys && printf 'com.example.game\n' >&3
                "$1" -qefc "$2 init asked.yaml" told <&3 & asked=$!
                while kill -0 $asked 2>/dev/null && ! grep -q Production told 2>/dev/null; do :; done
                printf '\#(key)' >&3
                looks=0
                while kill -0 $asked 2>/dev/null && [ $looks -lt 2000 ]; do grep -q written told; looks=$((looks + 1)); done
                printf '\n\004' >&3
                wait $asked
                """#
            try await withChildProcess(
                "/bin/sh",
                ["-c", line, "sh", Self.script, Executables.storeledger, directory],
                environment: ["PATH": "/usr/bin:/bin", "TERM": "dumb"]
            ) { process in
                let code = await process.wait()
                let told = process.output
                #expect(code == 75, "\(told)")
                #expect(told.contains("stopped before all questions were answered; nothing was written"), "\(told)")
                for later in ["Apple ID", "Issuer", "signal", "required"] { #expect(!told.contains(later), "\(told)") }
            }
            #expect(!FileManager.default.fileExists(atPath: directory + "/asked.yaml"))
        }
    }

    @Test func `every check of doctor that fails says what to do`() async throws {
        try await Stage.with(.init(customers: 2)) { stage in
            var job = stage.job
            job.store = job.store.replacing(/http:\/\/127\.0\.0\.1:[0-9]+/, with: "http://127.0.0.1:1")
            job.transactionIds = "csv: {path: nowhere.csv, column: transaction_id}"
            job.csv = "{directory: ids.csv/out}"
            let path = try stage.write(job)
            func failing() async throws -> (code: Int32, lines: [String]) {
                let doctor = try await stage.storeledger("doctor", path)
                let lines = doctor.output.split(separator: "\n").filter { $0.hasPrefix("FAIL") }
                return (doctor.code, lines.map(String.init))
            }

            let first = try await failing()
            #expect(first.code == 66 && first.lines.count == 4, "\(first)")
            #expect(first.lines[0].hasPrefix("FAIL  ID list: ") && first.lines[0].contains("nowhere.csv"), "\(first)")
            #expect(first.lines[1].hasPrefix("FAIL  CSV files: cannot create "), "\(first)")
            #expect(
                first.lines[1].hasSuffix("/ids.csv is not a directory. Name a path that this account can write"),
                "\(first)"
            )
            #expect(first.lines[2].hasPrefix("FAIL  schema: "))
            #expect(first.lines[2].contains("run: storeledger migrate \(path)"))
            #expect(first.lines[3].hasPrefix("FAIL  Apple: "), "\(first)")
            #expect(first.lines[3].contains("This machine must reach http://127.0.0.1:1: check"), "\(first)")
            // No request uses a key that others can read.
            let key = try #require(
                try FileManager.default.contentsOfDirectory(atPath: stage.store.directory).first { $0.hasSuffix(".p8") }
            )
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o644],
                ofItemAtPath: stage.store.directory + "/" + key
            )
            let second = try await failing()
            #expect(second.code == 78 && second.lines.count == 4, "\(second)")
            #expect(second.lines[0].hasPrefix("FAIL  key and roots: "), "\(second)")
            #expect(second.lines[0].contains("chmod"), "\(second)")
        }
    }

    @Test func `doctor's remedy for answers that are not Apple's is neither doctor nor the bundle ID`() async throws {
        try await Stage.with(.init(customers: 10)) { stage in
            var job = stage.job
            job.streams = ["notificationHistory: {scope: app, startDate: -60d}"]
            job.transactionIds = nil
            let path = try await stage.migrated(job)
            for (fault, words) in [
                ("forgeSignature", "The answers are not as Apple signs them: check DNS and proxies"),
                ("garbageBody", "another server may answer in Apple's place: check DNS and proxies"),
            ] {
                try await stage.store.setFaults(#"{"rules": [{"fault": "\#(fault)"}]}"#)
                let doctor = try await stage.storeledger("doctor", path)
                let found = doctor.output.split(separator: "\n").filter { $0.hasPrefix("FAIL") }
                #expect(doctor.code == 76 && found.count == 1 && found[0].contains(words), "\(doctor.output)")
                #expect(!doctor.output.contains("storeledger doctor") && !doctor.output.contains("App Information"))
            }
        }
    }

    @Test func `doctor and run refuse a wrong Apple ID with the same exit code, and doctor accepts the right one`()
        async throws
    {
        try await Stage.with(.init(customers: 10)) { stage in
            let right = stage.job
            var wrong = stage.job
            wrong.store = right.store.replacing(/appAppleId: *[0-9]+/, with: "appAppleId: 999")
            wrong.streams = ["notificationHistory: {scope: app, startDate: -60d}"]
            wrong.transactionIds = nil
            let path = try await stage.migrated(wrong)
            let doctor = try await stage.storeledger("doctor", path)
            #expect(doctor.code == 76, "\(doctor.output)")
            let found = doctor.output.split(separator: "\n").filter { $0.hasPrefix("FAIL") }
            #expect(found.count == 1 && found[0].contains("the job's is 999"), "\(doctor.output)")
            #expect(try await stage.storeledger("run", path, "--progress", "none").code == doctor.code)

            // That run has loaded no record, so the right ID replaces the wrong one.
            let corrected = try stage.write(right)
            let accepted = try await stage.storeledger("doctor", corrected)
            #expect(accepted.output.contains("ok    app: "), "\(accepted.output)")
        }
    }

    @Test
    func
        `a mistyped command and a job without its suffix get a suggestion, and a bad directory ends a run before a request`()
        async throws
    {
        try await Stage.with(.init(customers: 1)) { stage in
            let path = try await stage.migrated(stage.job)
            let mistyped = try await stage.storeledger("rn", path)
            #expect(mistyped.code == 64 && mistyped.errors.contains("Did you mean run?"), "\(mistyped)")
            let short = try await stage.storeledger("run", String(path.dropLast(".yaml".count)))
            #expect(short.code == 66 && short.errors.contains("did you mean \(path)?"), "\(short)")

            try stage.write("", to: "sim.log")
            var job = stage.job
            job.csv = "{directory: sim.log}"
            let refused = try await stage.storeledger("run", try stage.write(job))
            #expect(refused.code == 73 && refused.errors.contains("sim.log"), "\(refused)")
            #expect(try await stage.store.requests().total == 0)
        }
    }

    @Test func `init takes a list without a header and a path with ~, and warns of a list that cannot be used`()
        async throws
    {
        try await Stage.with(.init(customers: 1)) { stage in
            let arguments = [
                "init", stage.store.directory + "/new.yaml", "--force", "--bundle-id", "com.example.game",
                "--app-apple-id", "1", "--issuer-id",
                "57246542-96fe-1a63-e053-0824d011072a", "--key-id", "2X9R4HXF34", "--ids-csv",
            ]
            func initialize(_ list: String, _ rest: String...) async throws -> (text: String, errors: String) {
                try await stage.withStoreledger(arguments + [list] + rest, environment: ["HOME": "/srv/ann"]) {
                    process in
                    #expect(await process.wait() == 0)
                    return (
                        try String(contentsOfFile: stage.store.directory + "/new.yaml", encoding: .utf8), process.errors
                    )
                }
            }
            try stage.write("430000000000000\n", to: "bare.csv")
            try stage.write("-----BEGIN PRIVATE KEY-----\nabc\n", to: "key.p8")
            let bare = try await initialize("bare.csv", "--private-key-file", "~/key.p8")
            #expect(bare.text.contains("csv: {path: \"bare.csv\"}"), "\(bare)")
            #expect(bare.text.contains("privateKeyFile: \"/srv/ann/key.p8\""), "\(bare)")
            #expect(!bare.errors.contains("the ID list"), "\(bare)")
            let key = try await initialize("key.p8")
            #expect(key.errors.contains("warning: the ID list cannot be used: "), "\(key)")
        }
    }

    @Test func `a list with only a header gives a warning and exit code 2 in doctor and run, and status names it`()
        async throws
    {
        try await Stage.with(.init(customers: 3)) { stage in
            let list = stage.store.directory + "/none.csv"
            try Data("transaction_id\n".utf8).write(to: URL(filePath: list))
            var job = stage.job
            job.transactionIds = "csv: {path: none.csv, column: transaction_id}"
            let path = try await stage.migrated(job)
            let doctor = try await stage.storeledger("doctor", path)
            #expect(
                doctor.code == 2 && doctor.output.contains("FAIL  ID list: transactionIds.csv (\(list)) has no ID"),
                "\(doctor)"
            )
            let plan = try await stage.storeledger("plan", path)
            #expect(plan.code == 0 && plan.errors.contains("transactionIds.csv (\(list)) has no ID"), "\(plan)")
            let run = try await stage.storeledger("run", path)
            #expect(run.code == 2 && run.output.contains(/lists without an ID +1\n/), "\(run.output)")
            #expect(run.errors.contains("transactionIds.csv (\(list)) has no ID"), "\(run.errors)")
            #expect(run.output.contains("storeledger status \(path)"), "\(run.output)")
            let status = try await stage.storeledger("status", path)
            #expect(status.output.contains("    1 ID list had no ID\n"), "\(status.output)")

            try Data(contentsOf: URL(filePath: stage.store.directory + "/ids.csv")).write(to: URL(filePath: list))
            let next = try await stage.storeledger("run", path)
            #expect(next.code == 0 && !next.output.contains("lists without an ID"), "\(next)")
        }
    }

    @Test func `what is installed runs from anywhere and makes a report, with man pages and completions`() async throws
    {
        try await Stage.with(.init(customers: 2)) { stage in
            let prefix = stage.directory + "/prefix"
            let binaries = URL(filePath: Executables.storeledger).deletingLastPathComponent().path
            let environment = [
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": stage.directory,
            ]
            for _ in 0..<2 {
                try await withChildProcess(
                    Executables.checkout + "/scripts/install",
                    ["--prefix", prefix, "--from", binaries],
                    environment: environment
                ) { process in
                    let code = await process.wait()
                    #expect(code == 0, "\(process.errors)")
                }
            }
            let files = FileManager.default
            for name in ["storeledger", "storeledger-run", "storeledger-retry", "storeledger-init"] {
                let page = try String(contentsOfFile: "\(prefix)/share/man/man1/\(name).1", encoding: .utf8)
                #expect(
                    page.contains(".SH NAME") && page.contains(".SH SYNOPSIS") && page.contains(".SH OPTIONS"),
                    "\(name)"
                )
            }
            for path in ["bash-completion/completions/storeledger", "zsh/site-functions/_storeledger"] {
                #expect(files.fileExists(atPath: "\(prefix)/share/\(path)"), "\(path)")
            }
            let job = try stage.write(stage.job)
            let variables = ["DATABASE_URL": stage.databaseURL()]
            let report = stage.directory + "/report.html"
            for command in ["migrate", "run --progress none", "report --output \(report)"] {
                try await withChildProcess(
                    "/bin/sh",
                    ["-c", "cd / && exec \"$0\" $2 \"$1\"", prefix + "/bin/storeledger", job, command],
                    environment: variables
                ) { process in
                    let code = await process.wait()
                    #expect(code == 0, "\(command): \(process.errors)")
                }
            }
            #expect(try String(contentsOfFile: report, encoding: .utf8).hasSuffix("</html>\n"))
        }
    }
}
