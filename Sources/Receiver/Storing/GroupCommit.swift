import Basics
import Inbox
import JobFiles
import Postgres
import Synchronization

/// Stores notifications that arrive at about the same time in one commit.
///
/// A commit waits for the disk. While commits are running, further notifications wait, and the next commit contains all of them
/// up to its limits. So more notifications can be stored in a second than with one commit for each.
final class GroupCommit: Sendable {
    typealias Store = @Sendable ([ReceivedNotification]) async throws -> [NotificationInbox.Receipt]

    /// The notification was not stored in time.
    struct TooLate: Error {}

    /// The most notifications of one commit.
    static let mostNotifications = 256
    /// Once the texts of a commit have this many bytes, it gets no further notification.
    static let mostBytes = 4 * 1_024 * 1_024

    private struct Waiter {
        let notification: ReceivedNotification
        let deadline: Duration
        let continuation: CheckedContinuation<NotificationInbox.Receipt, any Error>
    }

    private struct State {
        var nextNumber = 0
        /// Everything that has no answer yet, by its number.
        var waiters: [Int: Waiter] = [:]
        /// The numbers that are in no commit yet, in the order of arrival.
        var queue: [Int] = []
        var runningCommits = 0
    }

    private let width: Int
    private let patience: Duration
    private let time: Timekeeper
    private let commit: Store
    private let state = Mutex(State())

    /// - Parameters:
    ///   - width: The most commits at a time.
    ///   - patience: How long a notification waits for its commit before ``store(_:)`` fails.
    ///   - time: Its monotonic clock.
    ///   - commit: Stores a batch, each key once.
    init(width: Int, patience: Duration, time: Timekeeper, commit: @escaping Store) {
        self.width = width
        self.patience = patience
        self.time = time
        self.commit = commit
    }

    /// Stores a notification, and returns when it is durable.
    ///
    /// - Throws: The error of the commit; ``TooLate``.
    func store(_ notification: ReceivedNotification) async throws -> NotificationInbox.Receipt {
        let deadline = time.monotonic() + patience
        return try await withCheckedThrowingContinuation { continuation in
            let startsCommit = state.withLock { state in
                let number = state.nextNumber
                state.nextNumber += 1
                state.waiters[number] = Waiter(
                    notification: notification,
                    deadline: deadline,
                    continuation: continuation
                )
                state.queue.append(number)
                guard state.runningCommits < width else { return false }
                state.runningCommits += 1
                return true
            }
            // A separate task, because the commit is not only for this request.
            if startsCommit { Task { await commitQueue() } }
        }
    }

    /// The number of notifications without an answer.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Fails the notifications whose deadline has passed; call it regularly.
    ///
    /// A notification in a running commit may be stored nevertheless. When Apple sends it again, it is already known.
    func failOverdue() {
        let now = time.monotonic()
        let overdue = state.withLock { state in
            let overdue = state.waiters.filter { $0.value.deadline <= now }
            for number in overdue.keys { state.waiters[number] = nil }
            return overdue
        }
        for waiter in overdue.values { waiter.continuation.resume(throwing: TooLate()) }
    }

    /// Commits batches until the queue is empty.
    private func commitQueue() async {
        while let batch = nextBatch() {
            do {
                let receipts = try await commit(batch.map(\.notification))
                for (member, receipt) in zip(batch, receipts) { resume(member.number, with: .success(receipt)) }
            } catch let error as PostgresError where error.isOfOneRow && batch.count > 1 {
                // A value that PostgreSQL rejects must not fail the other notifications of the batch.
                for member in batch {
                    do {
                        for receipt in try await commit([member.notification]) {
                            resume(member.number, with: .success(receipt))
                        }
                    } catch {
                        resume(member.number, with: .failure(error))
                    }
                }
            } catch {
                for member in batch { resume(member.number, with: .failure(error)) }
            }
        }
    }

    private func resume(_ number: Int, with result: Result<NotificationInbox.Receipt, any Error>) {
        state.withLock { $0.waiters.removeValue(forKey: number) }?.continuation.resume(with: result)
    }

    /// The next notifications, each key once; `nil` if none waits, and then the caller's commit counts as ended.
    private func nextBatch() -> [(number: Int, notification: ReceivedNotification)]? {
        state.withLock { state in
            var batch: [(number: Int, notification: ReceivedNotification)] = []
            var later: [Int] = []
            var keys: Set<String> = []
            var bytes = 0
            var taken = 0
            for number in state.queue {
                guard batch.count < Self.mostNotifications, bytes < Self.mostBytes else { break }
                taken += 1
                // An overdue notification has failed, and is in the queue but no longer in `waiters`.
                guard let notification = state.waiters[number]?.notification else { continue }
                guard keys.insert(notification.key).inserted else {
                    later.append(number)
                    continue
                }
                // Each of the servers gets a copy.
                bytes += notification.body.utf8.count + (notification.forward?.body.count ?? 0) * Forward.most
                batch.append((number, notification))
            }
            state.queue.replaceSubrange(0..<taken, with: later)
            guard batch.isEmpty else { return batch }
            state.runningCommits -= 1
            return nil
        }
    }
}

extension PostgresError {
    /// Whether the error is about one value or row, so that the statement can succeed without it.
    var isOfOneRow: Bool {
        switch reason {
        case .nulCharacter, .unsendableValue: true
        // Data exception, constraint, program limit.
        case .server: ["22", "23", "54"].contains(state.conditionClass)
        default: false
        }
    }
}
