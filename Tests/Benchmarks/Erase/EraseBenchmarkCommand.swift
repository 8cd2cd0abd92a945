import AppStoreModel
import ArgumentParser
import Erasure
import Ledger
import LedgerSchema
import Synchronization

/// How long an erasure keeps pages out.
struct EraseBenchmarkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "How long an erasure among many customers holds the app's lock, and how long it takes in all."
    )

    @OptionGroup var database: DatabaseOptions
    @Option(help: "How many customers the ledger has, at least 1000; each has twelve notifications.")
    var customers = 100_000

    @Flag(help: "Prints the figures as a JSON array of {figure, value, unit, spread}.")
    var json = false

    func validate() throws {
        guard customers >= 1_000 else {
            throw ValidationError("--customers is \(customers); it must be 1000 or more.")
        }
    }

    func run() async throws {
        try ReleaseBuild.require()
        let world = ErasureWorld(customers: customers)
        try await database.withDatabase { database in
            Say.line("erase: making a ledger of \(customers) customers and \(world.notificationCount) notifications")
            try await database.script(world.sql)
            try await database.script("VACUUM (ANALYZE)")
            try await database.script("CHECKPOINT")
            let apps = try await database.ledger.knownApps().map(\.id)
            var figures: [Figure] = []
            // Customers apart from each other, so that none is in memory because of the one before.
            let few = (1...9).map { customers / 10 * $0 }
            let kinds: [(name: String, customers: [Int], rows: ClosedRange<Int>)] = [
                ("a customer with few rows", few, 30...60),
                ("a customer with many rows", Array(1...ErasureWorld.heavyCustomers), 10_000...30_000),
                ("an unknown customer", few.map { $0 + customers }, 0...0),
            ]
            for kind in kinds {
                var locked: [Double] = []
                var whole: [Double] = []
                for customer in kind.customers {
                    let lap = try await erase(ErasureWorld.transactionID(of: customer), from: apps, of: database.ledger)
                    guard kind.rows.contains(lap.rows) else { throw Miscounted(customer: customer, rows: lap.rows) }
                    locked.append(lap.locked)
                    whole.append(lap.whole)
                }
                Say.line("erase: \(kind.name): longest lock \(Int((locked.max() ?? 0).rounded())) ms")
                figures.append(Figure("erasure of \(kind.name): lock held", locked, "ms"))
                figures.append(Figure("erasure of \(kind.name): longest lock", [locked.max() ?? 0], "ms"))
                figures.append(Figure("erasure of \(kind.name): in all", whole, "ms"))
            }
            let clock = ContinuousClock()
            let statistics = try await clock.measure { try await database.ledger.renewStatistics() }
            figures.append(Figure("statistics renewed after the erasures", [Self.milliseconds(statistics)], "ms"))
            print(try json ? Figure.json(of: figures) : Figure.text(of: figures))
        }
    }

    /// - Returns: Milliseconds from when the lock was there until the commit had ended, milliseconds of the whole
    ///   erasure, and how many rows it removed.
    private func erase(
        _ id: String,
        from apps: [AppID],
        of ledger: Ledger
    ) async throws -> (locked: Double, whole: Double, rows: Int) {
        guard let transaction = TransactionID(id) else { throw Miscounted(customer: 0, rows: 0) }
        let locked = Mutex<ContinuousClock.Instant?>(nil)
        let began = ContinuousClock.now
        let erasure = try await ledger.erase([.transaction(transaction)], in: apps) {
            locked.withLock { $0 = .now }
        }
        let end = ContinuousClock.now
        let held = end - (locked.withLock { $0 } ?? began)
        return (Self.milliseconds(held), Self.milliseconds(end - began), erasure.removed.reduce(0) { $0 + $1.rows })
    }

    private static func milliseconds(_ duration: Duration) -> Double {
        Double(duration.components.seconds) * 1e3 + Double(duration.components.attoseconds) / 1e15
    }

    struct Miscounted: Error {
        let customer: Int
        let rows: Int
    }
}
