import Glibc
import TestSupport

/// One `storeledger run`, or another command, under test.
struct Worker: Sendable {
    /// Its `application_name`.
    let name: String
    let process: ChildProcess
    /// The action it performs on itself, if any.
    let failpoint: String?

    /// Whether it reached its crash point.
    var hasReachedPoint: Bool { process.errors.contains("failpoint ") }

    /// Its exit code; `nil` when it does not end in time.
    func end(within limit: Duration) async -> Int32? {
        await withTaskGroup(of: Int32?.self) { group in
            group.addTask { await process.wait() }
            group.addTask {
                try? await Task.sleep(for: limit)  // cancelled by the line below
                return nil
            }
            defer { group.cancelAll() }
            guard let first = await group.next(), let code = first else {
                // The other task ends with the process.
                process.signal(SIGKILL)
                return nil
            }
            return code
        }
    }
}
