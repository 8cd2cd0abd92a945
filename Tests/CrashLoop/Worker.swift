import Glibc
import TestSupport

/// One `storeledger run`, or another command, under test.
struct Worker: Sendable {
    /// Its `application_name`.
    let name: String
    let process: ChildProcess
    /// What it was told to do to itself, if anything.
    let failpoint: String?

    /// Whether it reached the crash point it was told.
    var hasReachedPoint: Bool { process.errors.contains("failpoint ") }

    /// Its exit code; `nil` when it has neither ended nor been killed in time.
    func end(within limit: Duration) async -> Int32? {
        await withTaskGroup(of: Int32?.self) { group in
            group.addTask { await process.wait() }
            group.addTask {
                try? await Task.sleep(for: limit)  // cancelled by the line below
                return nil
            }
            defer { group.cancelAll() }
            guard let first = await group.next(), let code = first else {
                // The other task ends only with the process.
                process.signal(SIGKILL)
                return nil
            }
            return code
        }
    }
}
