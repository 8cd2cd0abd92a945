import FoundationEssentials
import TestSupport
import Testing

/// The exit code of `storeledger` and its one-sentence message.
@Suite(.temporaryDatabase)
struct ExitCodeTests {
    /// One way of going wrong.
    struct Mistake: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let code: Int32
        /// All of them are in the message.
        let words: [String]
        var arguments = ["run", "JOB", "--progress", "none"]
        var environment: [String: String] = [:]
        /// How many lines the message has.
        var lines = 1
        /// Whether the schema is made before.
        var isMigrated = true
        /// In place of the stage's `DATABASE_URL`.
        var database: (@Sendable (Stage) -> String)?
        var change: @Sendable (inout JobText, Stage) async throws -> Void = { _, _ in }
    }

    @Test(arguments: jobFiles + inputs + keys + databases + outputs)
    func `a mistake has its exit code and one clear sentence`(mistake: Mistake) async throws {
        try await Stage.with(.init(customers: 3)) { stage in
            var job = stage.job
            if mistake.isMigrated { _ = try await stage.migrated(job) }
            try await mistake.change(&job, stage)
            let path = try stage.write(job)
            var environment = mistake.environment
            if let database = mistake.database { environment["DATABASE_URL"] = database(stage) }
            let outcome = try await stage.withStoreledger(
                mistake.arguments.map { $0 == "JOB" ? path : $0 },
                environment: environment
            ) { process in
                Stage.Outcome(code: await process.wait(), output: process.output, errors: process.errors)
            }

            #expect(outcome.code == mistake.code, "\(outcome.errors)")
            #expect(outcome.output == "")
            for words in mistake.words { #expect(outcome.errors.contains(words), "\(outcome.errors)") }
            #expect(outcome.errorLines.count == mistake.lines, "\(outcome.errors)")
            if mistake.code == 65 { #expect(try await stage.store.requests().total == 0) }
        }
    }

    @Test func `a wrong command line is 64`() async throws {
        try await Stage.with(.init(customers: 1)) { stage in
            let path = try stage.write(stage.job)
            for arguments in [["run", path, "--fast"], ["run", path, "--concurrency", "0"], ["walk", path], ["run"]] {
                let (code, output, errors) = try await stage.withStoreledger(arguments) { process in
                    (await process.wait(), process.output, process.errors)
                }
                #expect(code == 64, "\(arguments)")
                #expect(output == "", "\(arguments)")
                #expect(errors.hasPrefix("Error: "), "\(errors)")
            }
        }
    }

    private static let jobFiles = [
        Mistake(
            testDescription: "an unknown key",
            code: 65,
            words: ["nightly.yaml:", "colour"],
            change: { job, _ in job.streams.append("colour: {}") }
        ),
        Mistake(
            testDescription: "two mistakes",
            code: 65,
            words: ["nightly.yaml:", "refundHistory", "share"],
            lines: 2,
            change: { job, _ in
                job.streams[1] = "refundHistory: {for: some}"
                job.limits = "{share: 2}"
            }
        ),
        Mistake(
            testDescription: "an unset variable",
            code: 65,
            words: ["nightly.yaml:", "NOBODY_SETS_THIS"],
            change: { job, _ in job.transactionIds = "csv: {path: \"${NOBODY_SETS_THIS}\"}" }
        ),
        Mistake(
            testDescription: "no job file",
            code: 66,
            words: ["/nowhere/job.yaml"],
            arguments: ["run", "/nowhere/job.yaml"]
        ),
        Mistake(testDescription: "export without csv", code: 65, words: ["output.csv"], arguments: ["export", "JOB"]),
    ]

    private static let inputs = [
        Mistake(
            testDescription: "a bad ID list",
            code: 65,
            words: ["bad.csv:3:", "2.0E+15", "Nothing was sent"],
            lines: 2,
            change: { job, stage in
                try stage.write("transaction_id\n430000000000000\n2.0E+15\n", to: "bad.csv")
                job.transactionIds = "csv: {path: bad.csv}"
            }
        ),
        Mistake(
            testDescription: "an ID list with the IDs in a later column",
            code: 65,
            words: [
                "named.csv:2:", "The file has a column transaction_id: name it in transactionIds.csv.column",
                "Nothing was sent",
            ],
            lines: 3,
            change: { job, stage in
                try stage.write("name,transaction_id\nAnna,430000000000000\n", to: "named.csv")
                job.transactionIds = "csv: {path: named.csv}"
            }
        ),
        Mistake(
            testDescription: "an ID list without the column",
            code: 65,
            words: ["ids.csv", "\"ident\""],
            change: { job, _ in job.transactionIds = "csv: {path: ids.csv, column: ident}" }
        ),
        Mistake(
            testDescription: "a bad ID from a query",
            code: 65,
            words: ["12x", "Nothing was sent"],
            change: { job, _ in job.transactionIds = "query: \"SELECT '12x'\"" }
        ),
        Mistake(
            testDescription: "no ID list",
            code: 66,
            words: ["missing.csv"],
            change: { job, _ in job.transactionIds = "csv: {path: missing.csv}" }
        ),
        Mistake(
            testDescription: "no root certificate",
            code: 66,
            words: ["other.cer"],
            change: { job, _ in job.store = job.store.replacing("root.cer", with: "other.cer") }
        ),
    ]

    private static let keys = [
        Mistake(
            testDescription: "no key file",
            code: 66,
            words: ["missing.p8"],
            change: { job, _ in job.nameKey("missing.p8") }
        ),
        Mistake(
            testDescription: "a key file that is no key",
            code: 78,
            words: ["strange.p8"],
            change: { job, stage in try stage.writeKey("no key at all", &job) }
        ),
        Mistake(
            testDescription: "H53 SSLKEYLOGFILE beside a job for Apple's own server",
            code: 78,
            words: ["SSLKEYLOGFILE"],
            environment: ["SSLKEYLOGFILE": "/dev/null"],
            change: { job, _ in
                job.store = job.store.split(separator: "\n").filter {
                    !$0.contains("baseURL") && !$0.contains("trustedRoots")
                }.joined(separator: "\n")
            }
        ),
        Mistake(
            testDescription: "an RSA key",
            code: 78,
            words: ["strange.p8", "P-256"],
            change: { job, stage in try await stage.generateKey(["-algorithm", "RSA"], &job) }
        ),
        Mistake(
            testDescription: "a P-384 key",
            code: 78,
            words: ["strange.p8", "P-256"],
            change: { job, stage in
                try await stage.generateKey(["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"], &job)
            }
        ),
        Mistake(
            testDescription: "JF24 a key behind a link that others can replace",
            code: 78,
            words: ["linked.p8", "other users can replace it", "chmod go-w"],
            change: { job, stage in
                let open = stage.directory + "/open"
                try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
                try FileManager.default.createSymbolicLink(
                    atPath: open + "/linked.p8",
                    withDestinationPath: try stage.keyFile
                )
                try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: open)
                job.nameKey(open + "/linked.p8")
            }
        ),
        Mistake(
            testDescription: "JF27 a variable with something else than a key",
            code: 78,
            words: ["The private key in ${APPSTORE_PRIVATE_KEY} cannot be used", "a path belongs into privateKeyFile"],
            environment: ["APPSTORE_PRIVATE_KEY": "/etc/storeledger/key.p8"],
            change: { job, _ in job.takeKeyFromVariable() }
        ),
        Mistake(
            testDescription: "JF27 an empty variable in place of a key",
            code: 65,
            words: ["appStore.privateKey is empty, because ${APPSTORE_PRIVATE_KEY} is"],
            environment: ["APPSTORE_PRIVATE_KEY": ""],
            change: { job, _ in job.takeKeyFromVariable() }
        ),
        Mistake(
            testDescription: "a key others can read",
            code: 78,
            words: ["strange.p8", "chmod 600"],
            change: { job, stage in
                try await stage.generateKey(["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], &job)
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o644],
                    ofItemAtPath: stage.store.directory + "/strange.p8"
                )
            }
        ),
    ]

    private static let databases = [
        Mistake(
            testDescription: "no server",
            code: 69,
            words: ["PostgreSQL cannot be reached"],
            environment: [
                "DATABASE_URL": "postgresql://ledger:planted-pass-word@127.0.0.1:1/ledger",
                "STORELEDGER_DATABASE_DEADLINE": "1",
            ]
        ),
        Mistake(testDescription: "no schema", code: 78, words: ["storeledger migrate"], isMigrated: false),
        Mistake(
            testDescription: "a newer schema",
            code: 78,
            words: ["appstore", "9999_later.sql"],
            change: { _, stage in
                try await stage.book().change(
                    "INSERT INTO schema_migrations (name, checksum) VALUES ('9999_later.sql', '')"
                )
            }
        ),
        Mistake(
            testDescription: "an unknown role",
            code: 77,
            words: ["unknown_role"],
            database: { $0.databaseURL(role: "unknown_role") }
        ),
        Mistake(
            testDescription: "a database that is not there",
            code: 78,
            words: ["nowhere"],
            database: { $0.databaseURL(database: "nowhere") }
        ),
    ]

    private static let outputs = [
        Mistake(
            testDescription: "JF06 an output directory that is a link to elsewhere",
            code: 73,
            words: ["out is a symbolic link"],
            change: { job, stage in
                try FileManager.default.createSymbolicLink(
                    atPath: stage.store.directory + "/out",
                    withDestinationPath: stage.directory
                )
                job.csv = "{directory: out, tables: [transactions]}"
            }
        ),
        Mistake(
            testDescription: "JF07 a directory in the place of a file",
            code: 73,
            words: ["transactions.csv", "something other than a file"],
            change: { job, stage in
                try FileManager.default.createDirectory(
                    atPath: stage.store.directory + "/out/transactions.csv",
                    withIntermediateDirectories: true
                )
                job.csv = "{directory: out, tables: [transactions]}"
            }
        ),
        Mistake(
            testDescription: "an output directory that cannot be made",
            code: 73,
            words: ["root.cer/out"],
            change: { job, _ in job.csv = "{directory: root.cer/out, tables: [transactions]}" }
        ),
        Mistake(
            testDescription: "an export that cannot be made",
            code: 73,
            words: ["root.cer/out"],
            arguments: ["export", "JOB"],
            change: { job, _ in job.csv = "{directory: root.cer/out, tables: [transactions]}" }
        ),
    ]
}

extension Stage {
    fileprivate func writeKey(_ text: String, _ job: inout JobText) throws {
        let path = try write(text, to: "strange.p8")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        job.nameKey("strange.p8")
    }

    /// Makes a key with `openssl genpkey` and these options.
    fileprivate func generateKey(_ kind: [String], _ job: inout JobText) async throws {
        let text = try await withChildProcess("/usr/bin/openssl", ["genpkey"] + kind, environment: [:]) { process in
            let ending = await process.wait()
            try #require(ending == 0, "openssl genpkey: \(process.errors)")
            return process.output
        }
        try writeKey(text, &job)
    }
}
