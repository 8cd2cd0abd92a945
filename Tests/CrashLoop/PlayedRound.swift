import Postgres
import TestSupport

/// One world, one database, and faults injected into the processes between them.
protocol PlayedRound {
    var seed: UInt64 { get }
    /// The parameters of the round, for a failure.
    var description: String { get }
    var database: String { get }
    var store: SimulatedStore { get }
    /// All processes so far.
    var workers: [Worker] { get }
    /// The faults and their durations.
    var diary: [String] { get }
    var tally: Tally { get }

    /// Plays the round to its end.
    ///
    /// - Parameter limit: The number of faults of all rounds together.
    /// - Throws: ``BrokenInvariant``, and other errors.
    mutating func play(kills limit: Int) async throws
}

extension PlayedRound {
    /// Plays the round until its end or the first violated invariant.
    ///
    /// - Parameter limit: The number of faults of all rounds together.
    /// - Returns: A sentence for each violated invariant.
    mutating func broken(kills limit: Int) async -> [String] {
        do {
            try await play(kills: limit)
            return []
        } catch let promise as BrokenInvariant {
            return promise.sentences
        } catch {
            return ["the round ended with \(error)"]
        }
    }
}

/// Repeats a query when a fault of the database has closed the connection.
func patiently<Result>(_ body: () async throws -> Result) async throws -> Result {
    var attempt = 0
    while true {
        do {
            return try await body()
        } catch let error as PostgresError where error.isConnectionLoss && attempt < 20 {
            attempt += 1
            try await Task.sleep(for: .milliseconds(100))
        }
    }
}
