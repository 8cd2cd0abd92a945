import AppStoreModel
import AppStoreSimulator
import Basics
import Ledger
import Streams
import Synchronization

/// A ledger that contains a whole world, archive and rows.
struct SeededLedger {
    let rows: ReadyRows

    /// Writes everything, and has PostgreSQL tidy up as it would in time.
    func fill(_ database: BenchDatabase) async throws {
        let ledger = database.ledger
        let app = try await ledger.app(
            bundleId: rows.world.bundleId,
            environment: rows.world.environment.rawValue,
            appAppleId: rows.world.appAppleId
        )
        let origin = RowOrigin(app: app, job: "bench", run: nil, stream: .transactionHistory, listedTransactionID: nil)
        try await rows.forEachSlice(of: 20_000, batch: 2_500) { batches in
            let left = Mutex(batches.makeIterator())
            try await withBoundedWorkers(width: 2, next: { left.withLock { $0.next() } }) { rows in
                _ = try await ledger.write(rows, from: origin)
            }
        }
        try await database.script("VACUUM (ANALYZE) appstore.transactions")
        try await database.script("VACUUM (ANALYZE) appstore.signed_payloads")
        try await database.script("CHECKPOINT")
    }
}
