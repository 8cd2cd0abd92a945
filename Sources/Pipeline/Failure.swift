package import Basics
import Crawl
import HTTPTransport
import Postgres
import RateLimit
import SignedData

/// The message and exit code of a failed command.
///
/// The message is one sentence that says what to do.
package struct Failure: Sendable {
    package let status: ExitStatus
    /// One line, or one line for each mistake in a job file; contains no secrets.
    package let message: String
    /// Whether the command was stopped on purpose, by a signal or by `--max-duration`: not an error, although the exit code
    /// is 75.
    package let isPlannedStop: Bool
    /// Whether the command was stopped on purpose with work left, which the message names.
    package let leavesWork: Bool

    package init(_ error: any Error) {
        let (status, message) = Self.explain(error)
        self.status = status
        self.message = redacted(message)
        leavesWork = error is any PlannedStop || (error as? Interrupted)?.failure is any PlannedStop
        isPlannedStop =
            error is DeadlineReached || error is any PlannedStop || error is Interrupted || error is CancellationError
    }

    private static func explain(_ error: any Error) -> (ExitStatus, String) {
        switch error {
        case let error as any ExplainedError:
            (error.status, error.sentence)
        case let error as PostgresError:
            explain(error)
        case let error as ClockDisagreement:
            explain(StopReason(error))
        case let error as SigningError:
            // OpenSSL's setup can fail for lack of memory or randomness. Only a new process tries it again.
            (.workLeft, "OpenSSL cannot sign a token: \(error.detail). Run again to resume")
        case let error as TransportFault:
            (.configuration, error.description)
        case let error as Interrupted where error.failure is any PlannedStop:
            (
                .workLeft,
                "stopped by signal \(error.signal) \((error.failure as? any PlannedStop)?.remainder ?? "with work left")"
            )
        case let error as Interrupted:
            (.workLeft, "stopped by signal \(error.signal) with work left; run again to resume")
        case is CancellationError:
            (.workLeft, "stopped with work left; run again to resume")
        default:
            (.bug, "unexpected: \(error). This is a bug; please report it")
        }
    }

    private static func explain(_ error: PostgresError) -> (ExitStatus, String) {
        // The server closes the connection with this error, but a retry would not help.
        if error.state == .invalidCatalogName {
            return (.configuration, "PostgreSQL: \(error.message). Create the database or correct output.postgres.url")
        }
        if error.reason == .unreadableConninfo {
            return (.badInput, "output.postgres.url is not a valid connection string: \(error.message)")
        }
        if error.reason == .insecureTransport { return (.configuration, "output.postgres.url: \(error.message)") }
        if error.reason == .untrustedServer { return (.refused, "PostgreSQL is not trusted: \(error.message)") }
        if error.reason == .unsupportedServer { return (.configuration, "PostgreSQL: \(error.message)") }
        if error.state == .readOnlyTransaction {
            return (
                .configuration,
                "PostgreSQL: \(error.message). The command changes the ledger: it needs the primary, and a role whose sessions are not read-only (output.postgres.url or DATABASE_URL)"
            )
        }
        if error.isRecoveryConflict {
            return (
                .workLeft,
                "PostgreSQL: \(error.message): the replica applied changes that remove what the command was reading. Run again; on the replica set hot_standby_feedback = on, or a longer max_standby_streaming_delay"
            )
        }
        if error.isOfSharedSession {
            return (
                .configuration,
                "PostgreSQL: \(error.message). StoreLedger needs a separate session for each connection: connect directly to PostgreSQL, or set pool_mode = session in the pooler (docs/operations/database.md)"
            )
        }
        if error.state == .lockNotAvailable {
            return (.workLeft, "PostgreSQL: \(error.message): another session holds the lock. Run again")
        }
        if error.isUnreachable {
            return (
                .databaseUnavailable,
                "PostgreSQL cannot be reached: \(error.message). Check output.postgres.url and the server"
            )
        }
        if error.isAuthentication || error.state == .insufficientPrivilege {
            let hint =
                error.isAuthentication
                ? ""
                : ". With separate roles, each command has its own (docs/operations/roles.md; storeledger_exporter reads the tables), and sql/roles.sql must run again after migrate"
            return (
                .refused,
                "PostgreSQL refuses: \(error.message). Check the role and its rights (output.postgres.url, --database or DATABASE_URL)\(hint)"
            )
        }
        if error.isDiskFull {
            return (
                .ioError,
                "PostgreSQL's disk is full: \(error.message). Make room and run again; committed pages are kept, and the run continues after them"
            )
        }
        if error.isConnectionLoss {
            return (
                .databaseUnavailable, "the connection to PostgreSQL was lost: \(error.message). Run again to resume"
            )
        }
        return (.bug, "PostgreSQL, unexpected: \(error)")
    }
}

extension PostgresError {
    /// Whether the session has statements, temporary tables or types of another client, or lacks its own.
    ///
    /// StoreLedger never creates two with the same name, so this happens only in a session shared with another client.
    fileprivate var isOfSharedSession: Bool {
        if reason == .sharedSession { return true }
        return switch state {
        case .duplicatePreparedStatement, .invalidStatementName: true
        case .duplicateTable, .undefinedTable, .duplicateObject, .undefinedObject: message.contains("stage_")
        default: false
        }
    }
}
