import Platform
import Synchronization

/// A POSIX thread that runs one closure and can be joined.
final class JoinableThread: Sendable {
    /// `nil` once joined.
    private let handle: Mutex<pthread_t?>

    /// Returns `nil` when the system cannot create a thread.
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

    /// Waits until the closure has returned; must not be called from inside it.
    func join() {
        handle.withLock { handle in
            guard let running = handle else { return }
            pthread_join(running, nil)
            handle = nil
        }
    }
}

/// Passes the closure through C's `void *`.
private final class Start: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}

/// Blocks all signals on the calling thread, except those that its own faults raise, such as SIGSEGV.
///
/// Other threads handle SIGINT and SIGTERM. SIGPIPE, which OpenSSL causes when a server closes the connection, becomes an
/// ordinary error.
private func blockSignals() {
    var signals = sigset_t()
    unsafe sigfillset(&signals)
    for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT] { unsafe sigdelset(&signals, fault) }
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
}
