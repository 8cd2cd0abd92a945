import Basics
import Pipeline
import Synchronization

/// The troubles of one process; see ``RecurringTroubles``.
final class TroubleLog: Sendable {
    /// For commands that are no run.
    static let shared = TroubleLog()

    private let troubles = Mutex(RecurringTroubles())
    private let time = Timekeeper.system

    func note(_ trouble: Trouble) -> TroubleReport? {
        let now = time.monotonic()
        return troubles.withLock { $0.note(trouble, at: now) }
    }

    func due() -> [TroubleReport] {
        let now = time.monotonic()
        return troubles.withLock { $0.due(at: now) }
    }
}

/// Writes to stderr that the command waits for PostgreSQL, at most once a minute for each kind of wait.
@Sendable
func reportDatabaseWait(_ wait: DatabaseWait) {
    guard let report = TroubleLog.shared.note(Trouble(wait)) else { return }
    Console.message("storeledger: \(report.sentence)")
}
