import AppStoreModel
import AppStoreSimulator
import ArgumentParser
import Basics
import Glibc
import LedgerSchema
import Normalize
import SignedData
import Streams
import Synchronization

/// How large the world of a benchmark is.
struct WorldOptions: ParsableArguments {
    @Option(help: "How many transactions, at least 1000.")
    var transactions = 200_000

    /// Transactions of a customer, on average.
    static let perCustomer = 50

    func validate() throws {
        guard transactions >= 1_000 else {
            throw ValidationError("--transactions is \(transactions); it must be 1000 or more.")
        }
    }

    func world() throws -> SignedTransactions {
        let now = UnixMilliseconds(rawValue: Int64(time(nil)) * 1_000)
        return try SignedTransactions(
            seed: 1,
            customers: transactions / Self.perCustomer,
            transactionsPerCustomer: Self.perCustomer,
            anchor: now - .seconds(3_600)
        )
    }
}

/// Makes rows from a world, a slice of customers at a time.
struct ReadyRows: Sendable {
    let world: SignedTransactions
    private let recordVerifier: RecordVerifier
    let now: UnixMilliseconds

    init(_ world: SignedTransactions) throws {
        self.world = world
        now = UnixMilliseconds(rawValue: Int64(time(nil)) * 1_000)
        recordVerifier = RecordVerifier(
            bundleId: world.bundleId,
            environment: world.environment,
            appAppleId: world.appAppleId,
            verifier: try JWSVerifier(trustedRoots: [world.trustedRoot])
        )
    }

    /// Calls `body` with batches that together have the rows of `atMost` transactions or a few more, until all rows
    /// were passed.
    func forEachSlice(of atMost: Int, batch: Int, _ body: ([PageRows]) async throws -> Void) async throws {
        for customers in slices(of: atMost) { try await body(try await rows(of: customers, batch: batch)) }
    }

    /// The customers, so many at a time that they have `atMost` transactions or a few more.
    func slices(of atMost: Int) -> [Range<Int>] {
        let customers = max(1, atMost / WorldOptions.perCustomer)
        return stride(from: 0, to: world.customerCount, by: customers).map { start in
            start..<min(start + customers, world.customerCount)
        }
    }

    /// Makes the rows of answers that have the transactions of some customers.
    ///
    /// - Parameters:
    ///   - customers: Whose transactions.
    ///   - batch: How many transactions a batch has, about.
    ///   - signedDate: When the answers are signed; the moment of the world unless given.
    /// - Returns: The batches.
    /// - Throws: ``Rejected``; what signing throws.
    func rows(
        of customers: Range<Int>,
        batch: Int,
        signedDate: UnixMilliseconds? = nil
    ) async throws -> [PageRows] {
        let width = 2
        let step = max(1, batch / WorldOptions.perCustomer)
        let starts = Mutex(stride(from: customers.lowerBound, to: customers.upperBound, by: step).makeIterator())
        let made = Mutex<[Int: PageRows]>([:])
        try await withBoundedWorkers(width: width, next: { starts.withLock { $0.next() } }) { start in
            let texts = try (start..<min(start + step, customers.upperBound)).flatMap {
                try world.ofCustomer($0, signedDate: signedDate)
            }
            let page = Page(records: texts.map { .transaction(jws: $0) }, cursor: nil, hasMore: false)
            let rows = Normalizer.normalize(recordVerifier.verify(page, from: .transactionHistory, item: "1", now: now))
            guard rows.rejected.isEmpty else { throw Rejected(count: rows.rejected.count) }
            made.withLock { $0[start] = rows }
        }
        return made.withLock { $0.sorted { $0.key < $1.key }.map(\.value) }
    }

    struct Rejected: Error {
        let count: Int
    }
}
