import AppStoreModel
import AppStoreSimulator
import ArgumentParser
import Basics
import Ledger
import LedgerSchema
import Streams
import Synchronization

/// The load path alone: rows are ready, and go into the ledger.
struct MergeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Rows are ready: how fast they are merged, new and then signed again, and what PostgreSQL logs of it."
    )

    @OptionGroup var world: WorldOptions
    @OptionGroup var database: DatabaseOptions
    @Flag(help: "Prints the figures as a JSON array of {figure, value, unit, spread}.")
    var json = false

    @Option(help: "Rows in a transaction.")
    var batch = 5_000

    @Option(help: "Transactions at a time.")
    var loaders = 2

    @Flag(help: "Leaves the raw archive out.")
    var tablesOnly = false

    @Option(help: "How often each is measured; the median counts.")
    var runs = 3

    /// Rows that are ready in memory at a time.
    private static let slice = 40_000

    func run() async throws {
        try ReleaseBuild.require()
        let rows = try ReadyRows(try world.world())
        var shown: [Figure] = []
        for (name, withArchive) in [("merge", false), ("merge with archive", true)].prefix(tablesOnly ? 1 : 2) {
            var new: [Cost] = []
            var unchanged: [Cost] = []
            for run in 1...runs {
                let costs = try await database.withDatabase { database in
                    try await self.costs(of: rows, withArchive, in: database)
                }
                new.append(costs.new)
                unchanged.append(costs.unchanged)
                Say.line("\(name), run \(run) of \(runs)")
            }
            shown += Cost.figures("\(name), new rows", new, of: rows.world.count, "row")
            shown += Cost.figures("\(name), unchanged rows", unchanged, of: rows.world.count, "row")
        }
        print(try json ? Figure.json(of: shown) : Figure.text(of: shown))
    }

    private func costs(
        of rows: ReadyRows,
        _ withArchive: Bool,
        in database: BenchDatabase
    ) async throws -> (new: Cost, unchanged: Cost) {
        let app = try await database.ledger.app(
            bundleId: rows.world.bundleId,
            environment: rows.world.environment.rawValue,
            appAppleId: rows.world.appAppleId
        )
        let origin = RowOrigin(app: app, job: "bench", run: nil, stream: .transactionHistory, listedTransactionID: nil)
        var new = Cost()
        var unchanged = Cost()
        for customers in rows.slices(of: Self.slice) {
            let ready = prepared(try await rows.rows(of: customers, batch: batch), withArchive)
            // Apple signs each answer, so an unchanged record has a new signature and signature date.
            let again = try await rows.rows(of: customers, batch: batch, signedDate: rows.now - .seconds(60))
            let signedAgain = prepared(again, withArchive)
            let count = ready.reduce(0) { $0 + $1.snapshots.count }
            new += try await database.meter.measure {
                let counts = try await write(ready, from: origin, into: database.ledger)
                guard counts.new == count else { throw Miscounted(expected: count, counts: counts) }
            }
            unchanged += try await database.meter.measure {
                let counts = try await write(signedAgain, from: origin, into: database.ledger)
                guard counts.unchanged == count else { throw Miscounted(expected: count, counts: counts) }
            }
        }
        return (new, unchanged)
    }

    private func prepared(_ batches: [PageRows], _ withArchive: Bool) -> [PageRows] {
        batches.map { batch in
            var batch = batch
            if !withArchive { batch.archive = [] }
            return batch
        }
    }

    private func write(_ batches: [PageRows], from origin: RowOrigin, into ledger: Ledger) async throws -> RowCounts {
        let left = Mutex(batches.makeIterator())
        let sum = Mutex(RowCounts())
        try await withBoundedWorkers(width: loaders, next: { left.withLock { $0.next() } }) { rows in
            // As in a crawl: records already present are not read again.
            let counts = try await ledger.write(rows, from: origin, mode: .fetched)
            sum.withLock { sum in
                sum.new += counts.new
                sum.updated += counts.updated
                sum.unchanged += counts.unchanged
            }
        }
        return sum.withLock { $0 }
    }

    struct Miscounted: Error {
        let expected: Int
        let counts: RowCounts
    }
}
