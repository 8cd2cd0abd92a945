import AppStoreSimulator
import ArgumentParser
import FoundationEssentials
import LedgerSchema
import Postgres
import TestSupport

/// `storeledger replay` as it is shipped, over an archive that is there.
struct ReplayBenchmarkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "How fast storeledger replay is, over rows that are there and over rows that have gone.",
        discussion: "storeledger must lie beside this program, or in the folder that STORELEDGER_BIN names."
    )

    @OptionGroup var world: WorldOptions
    @OptionGroup var database: DatabaseOptions
    @Flag(help: "Prints the figures as a JSON array of {figure, value, unit, spread}.")
    var json = false

    @Option(help: "How often each is measured; the median counts.")
    var runs = 3

    func run() async throws {
        try ReleaseBuild.require()
        let rows = try ReadyRows(try world.world())
        let count = rows.world.count
        var held: [Cost] = []
        var gone: [Cost] = []
        var views: [Double] = []
        var peak = 0
        try await database.withDatabase { database in
            Say.line("filling the archive with \(count) transactions")
            try await SeededLedger(rows: rows).fill(database)
            try await withTemporaryDirectory { directory in
                try Data(rows.world.trustedRoot).write(to: URL(filePath: directory + "/root.cer"))
                try Data(job(rows).utf8).write(to: URL(filePath: directory + "/job.yaml"))
                for run in 1...runs {
                    Say.line("replay, run \(run) of \(runs)")
                    held.append(
                        try await database.meter.measure {
                            let sentence = "\(count) payloads: 0 new, 0 updated, \(count) unchanged, 0 rejected"
                            peak = max(peak, try await replay(directory, database, sentence))
                        }
                    )
                    try await empty(database)
                    gone.append(
                        try await database.meter.measure {
                            let sentence = "\(count) payloads: \(count) new, 0 updated, 0 unchanged, 0 rejected"
                            peak = max(peak, try await replay(directory, database, sentence))
                        }
                    )
                    views.append(
                        try await database.number(
                            "SELECT milliseconds / 1000.0 FROM appstore.refresh_state"
                        )
                    )
                    // As after any load.
                    try await database.script("VACUUM (ANALYZE) appstore.transactions")
                }
            }
        }
        let figures =
            Cost.figures("replay, rows are there", held, of: count, "transaction")
            + Cost.figures("replay, rows have gone", gone, of: count, "transaction")
            + [
                Figure(
                    "replay, rows have gone, without bringing the views up to date",
                    zip(gone, views).map { Double(count) / ($0.wall - $1) },
                    "transactions/s"
                ),
                Figure("replay, rows have gone: bringing the views up to date", views, "s"),
                Figure("replay: memory of storeledger", [Double(peak) / 1_024], "MB"),
            ]
        print(try json ? Figure.json(of: figures) : Figure.text(of: figures))
    }

    /// - Returns: The most memory storeledger took, in KiB.
    private func replay(_ directory: String, _ database: BenchDatabase, _ expected: String) async throws -> Int {
        let environment = ["DATABASE_URL": database.url, "PATH": "/usr/bin:/bin"]
        let arguments = ["replay", directory + "/job.yaml"]
        let child = try await MeasuredProgram.run(Executables.storeledger, arguments, environment: environment)
        guard child.code == 0, child.output.contains(expected) else {
            throw Unexpected(expected: expected, output: child.output, errors: child.errors)
        }
        return child.peak
    }

    private func empty(_ database: BenchDatabase) async throws {
        let tables = (Tables.snapshots + Tables.children).map { "appstore.\($0.name)" }.joined(separator: ", ")
        try await database.script("TRUNCATE \(tables)")
        try await database.script("CHECKPOINT")
    }

    private func job(_ rows: ReadyRows) -> String {
        """
        version: 1
        name: bench
        app: {bundleId: \(rows.world.bundleId), appAppleId: \(rows.world.appAppleId ?? 0), environment: Production}
        appStore:
          issuerId: 57246542-96fe-1a63-e053-0824d011072a
          keyId: 2X9R4HXF34
          privateKeyFile: none.p8
          baseURL: http://127.0.0.1:9
          trustedRoots: [root.cer]
        transactionIds: {list: ["1"]}
        streams: {transactionHistory: {}}
        output: {postgres: {url: "${DATABASE_URL}"}}

        """
    }

    struct Unexpected: Error {
        let expected: String
        let output: String
        let errors: String
    }
}
