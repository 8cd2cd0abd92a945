import ActionKinds
import Synchronization

/// Apple's lists of images and messages as this process read them last, so that one answer serves all rows.
final class ReviewLists: Sendable {
    private struct State {
        /// `readAt` is on the monotonic clock.
        var lists: [RetentionList: (readAt: Duration, entries: [String: RetentionCatalog.Entry])] = [:]
        /// How often a list did not have an accepted upload, by subject.
        var misses: [String: Int] = [:]
    }

    private let state = Mutex(State())

    /// The list, unless it was read before `moment`.
    func entries(of list: RetentionList, since moment: Duration) -> [String: RetentionCatalog.Entry]? {
        state.withLock { state in state.lists[list].flatMap { $0.readAt >= moment ? $0.entries : nil } }
    }

    func set(_ entries: [String: RetentionCatalog.Entry], of list: RetentionList, at moment: Duration) {
        state.withLock { $0.lists[list] = (moment, entries) }
    }

    /// Counts that a list does not have an upload.
    ///
    /// - Returns: How often it did not.
    func miss(_ subject: String) -> Int {
        state.withLock { state in
            state.misses[subject, default: 0] += 1
            return state.misses[subject, default: 0]
        }
    }
}
