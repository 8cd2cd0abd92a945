import Inbox
import Synchronization

/// Keeps refused notifications in the inbox, one at a time.
///
/// Anyone can send refused notifications. While one is being kept, the others are only counted, so that they cost the database
/// no more than one statement at a time.
final class RefusedNotifications: Sendable {
    private let keepInInbox: @Sendable (RefusedNotification) async throws -> Bool
    private let isBusy = Atomic(false)

    init(_ keepInInbox: @escaping @Sendable (RefusedNotification) async throws -> Bool) {
        self.keepInInbox = keepInInbox
    }

    /// Keeps a notification, unless another one is being kept or the inbox has enough of them.
    ///
    /// The HTTP answer is the same in all cases, so a failure is not reported.
    func keep(_ refused: RefusedNotification) async {
        guard !isBusy.exchange(true, ordering: .acquiring) else { return }
        defer { isBusy.store(false, ordering: .releasing) }
        _ = try? await keepInInbox(refused)
    }
}
