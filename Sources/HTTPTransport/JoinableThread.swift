import Glibc
import Synchronization

/// A POSIX thread that runs one closure and can be waited for.
final class JoinableThread: Sendable {
    /// `nil` once joined.
    private let handle: Mutex<pthread_t?>

    /// Returns `nil` when the system has no thread left.
    init?(running body: @escaping @Sendable () -> Void) {
        let start = unsafe Unmanaged.passRetained(Start(body)).toOpaque()
        var handle = pthread_t()
        let failure = unsafe pthread_create(
            &handle,
            nil,
            { start in
                blockSignals()
                if let start = unsafe start { unsafe Unmanaged<Start>.fromOpaque(start).takeRetainedValue().body() }
                return nil
            },
            start
        )
        guard failure == 0 else {
            unsafe Unmanaged<Start>.fromOpaque(start).release()
            return nil
        }
        self.handle = Mutex(handle)
    }

    deinit { _ = handle.withLock { $0.map { pthread_detach($0) } } }

    /// Returns when the closure has returned; must not be called from inside it.
    func join() {
        handle.withLock { handle in
            guard let running = handle else { return }
            pthread_join(running, nil)
            handle = nil
        }
    }
}

/// Carries the closure through C's `void *`.
private final class Start: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}

/// Blocks every signal on the calling thread except those for its own mistakes.
///
/// SIGINT and SIGTERM are for those who listen for them; SIGPIPE, which OpenSSL raises when a server hangs up,
/// becomes an ordinary error.
private func blockSignals() {
    var signals = sigset_t()
    unsafe sigfillset(&signals)
    for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT] { unsafe sigdelset(&signals, fault) }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
}
