import Basics
import FoundationEssentials
import LedgerSchema
import Platform
import Postgres

extension Ledger {
    /// How long after its last report a process counts as working.
    ///
    /// A process reports four times in this time; a lease lasts as long.
    package static let presence = "interval '60 seconds'"

    /// Records that this process works on the run; repeat it as often as leases are renewed.
    package func joinRun(_ holder: LeaseHolder) async throws {
        let host = ProcessInfo.processInfo.hostName
        try await control.transaction { connection in
            _ = try connection.run(
                .joinRun,
                [
                    "app": .integer(holder.app.rawValue),
                    "run": .bigint(holder.run),
                    "owner": .uuid(holder.owner),
                    "host": .text(printable(host, limit: 255)),
                    "process": .integer(getpid()),
                ]
            )
        }
    }

    /// Records that this process has left the run.
    package func leaveRun(_ holder: LeaseHolder) async throws {
        try await control.transaction { connection in
            _ = try connection.run(
                """
                UPDATE run_processes SET seen_at = clock_timestamp(), ended_at = clock_timestamp()
                 WHERE app_id = $1 AND run_id = $2 AND owner = $3
                """,
                holder.processKey
            )
        }
    }
}

extension LeaseHolder {
    /// The key of the process in `run_processes`.
    fileprivate var processKey: [Cell] { [.integer(app.rawValue), .bigint(run), .uuid(owner)] }
}
