import Actions
import AppStoreModel
import Basics
import CSVFormat
import Crawl
import HTTPTransport
import JobPlan
import Ledger
import Planning
import Postgres
import RateLimit
import Receiver
import Report
import SignedData
import Signing

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
    /// Whether it was stopped on purpose, and says which work is left.
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
        case let error as JobFileError:
            (ExitStatus(rawValue: error.kind.rawValue) ?? .bug, error.description)
        case let error as ListError:
            (error.isMissing ? .missingInput : .badInput, error.description)
        case let error as NothingVerified:
            (.contractBroken, error.sentence)
        case let error as EmptyList:
            (.completeWithLosses, error.sentence)
        case let error as UnknownCustomers:
            (
                .badInput,
                "the ledger has no records of \(error.count == 1 ? "this customer" : "\(error.count) of these customers"), so nothing was erased. Check the ID. To withhold records that arrive later, add --unknown"
            )
        case let error as BadListedID:
            (
                .badInput,
                "\(error.kind.key).query found \"\(error.found)\"; an ID is \(error.kind.rule). Nothing was sent."
            )
        case let error as BadListQuery:
            (.badInput, "PostgreSQL does not accept \(error.kind.key).query: \(error.message). Nothing was sent.")
        case let error as ActionInputError:
            (error.isMissingInput ? .missingInput : .badInput, error.sentence)
        case let error as SigningInputError:
            (error.isMissingInput ? .missingInput : .badInput, error.sentence)
        case let error as ActionRefusal:
            (status(of: error), error.sentence)
        case let error as ActionStop:
            (ExitStatus(rawValue: error.exitCode) ?? .bug, error.description)
        case is NoResultsDirectory:
            (
                .usage,
                "name the directory for the result files: --directory DIR, or output.results.directory in the job file"
            )
        case let error as KeyFileError:
            (error.reason == .notFound ? .missingInput : .configuration, error.description)
        case let error as UntrustedRoot:
            (error.isMissing ? .missingInput : .configuration, error.description)
        case is RootsChanged:
            (
                .configuration,
                "the files of appStore.trustedRoots were changed while this process worked; start it again, so that the new roots are compared with the ledger's records"
            )
        case is NoKeyInJob:
            (.badInput, "the job file is now that of a receiver alone, and names no key")
        case let error as OtherJobFile:
            (
                .configuration,
                "job \(error.job) is already in \(error.known), with \(error.difference == .streams ? "other streams or filters" : "another source of transaction IDs") than \(error.found). Change name in one of the two files. If \(error.found.path) replaces the other file, run it once with --restart"
            )
        case let error as OtherOrigin:
            (.configuration, error.description)
        case let error as LedgerError:
            (status(of: error), error.description)
        case let error as PostgresError:
            explain(error)
        case let error as MissingShare:
            (.bug, error.description)
        case let error as StaleStatistics:
            (
                .completeWithLosses,
                "the planner's statistics of \(error.tables) can contain values of customers who were erased since \(error.since)\(error.failure.map { ": \($0)" } ?? "")"
                    + "; storeledger refresh renews them"
            )
        case let error as ViewsAreOld:
            (.completeWithLosses, error.sentence)
        case let error as LockTimeout:
            (.workLeft, sentence(of: error))
        case let error as ClockDisagreement:
            explain(StopReason(error))
        case let error as StopReason:
            (ExitStatus(rawValue: error.exitCode) ?? .bug, error.description)
        case let error as SigningError:
            // OpenSSL's setup can fail for lack of memory or randomness. Only a new process tries it again.
            (.workLeft, "OpenSSL cannot sign a token: \(error.detail). Run again to resume")
        case let error as TransportFault:
            (.configuration, error.description)
        case let error as CannotListen:
            (
                .configuration,
                "cannot listen on \(error.address): \(error.reason). Name an address of this machine and a free port (receiver.listen or --listen)"
            )
        case is TLSKeysWouldBeWritten:
            (
                .configuration,
                "SSLKEYLOGFILE is set: the keys of every connection to Apple would be written to a file. Unset it"
            )
        case NothingToRetry.neverRan, NothingToRetry.noneFailed:
            (.complete, "no item has failed, so there is nothing to retry")
        case NothingToRetry.stillPlanning(let run):
            (.workLeft, "run \(run) has not planned all of its items; storeledger run JOB continues it")
        case NothingToRetry.runIsFromTheFuture(let run):
            (
                .configuration,
                "run \(run) began while PostgreSQL's clock was ahead, so its items are not retried; storeledger run JOB starts a new run"
            )
        case NothingToRetry.jobHasChanged(let run):
            (
                .configuration,
                "run \(run) had other streams, filters or another server; storeledger run JOB starts a new one"
            )
        case let error as JobNotRemoved:
            (error.status, error.sentence)
        case let error as UnknownRejects:
            (
                .badInput,
                "the job has no open rejected record \(error.ids.map(String.init).joined(separator: ", ")), so nothing was dismissed; storeledger rejects JOB lists them"
            )
        case let error as NoChartLibrary:
            (.missingInput, error.sentence)
        case let error as AppNotChosen:
            (.usage, error.description)
        case let error as NoReceiverRight:
            (
                .refused,
                "PostgreSQL's role \(error.role) has no right to store notifications; use the role of the receiver (storeledger_receiver)"
            )
        case is NothingReceived:
            (
                .configuration,
                "the receiver has not stored a notification of the app yet, so there is nothing to compare; start storeledger receive JOB, and request a test notification"
            )
        case let error as JobNotFound:
            (.usage, error.description)
        case let error as NothingToExport:
            (.badInput, error.sentence)
        case let error as ChangesNotLogged:
            (.badInput, error.sentence)
        case let error as ClockIsOff:
            (.configuration, error.sentence)
        case let error as ClockIsBehind:
            (.configuration, error.sentence)
        case let error as MomentsAhead:
            (.configuration, error.sentence)
        case let error as RunSuperseded:
            (.workLeft, "another run of the job replaced run \(error.run); run again to join it")
        case let error as DeadlineReached:
            (.workLeft, "stopped after \(error.limit.inWords) with work left; storeledger run JOB continues")
        case let error as any PlannedStop:
            (.workLeft, "stopped\(error.limit.map { " after \($0.inWords)" } ?? "") \(error.remainder)")
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

    private static func status(of error: ActionRefusal) -> ExitStatus {
        switch error {
        case .noBatch, .notApproved, .expired, .approvalEnded, .changed, .changedRow, .appUnknown, .otherAction,
            .tooManyRows,
            .noPolicy,
            .policyNotApproved, .policyChanged, .policyExpired, .policyWithdrawn, .policyUsedUp:
            .configuration
        case .unknownHash, .wrongCount, .nothingToSend, .alreadyApproved, .notRequired, .otherPolicy, .nothingApproved,
            .overtaken:
            .badInput
        case .nothingToRetry, .noOpenRequest: .complete
        case .noRight, .mustBeApproved: .refused
        case .plannedAtOnce, .notOfPolicy: .workLeft
        }
    }

    private static func status(of error: LedgerError) -> ExitStatus {
        switch error {
        case .schemaMissing, .schemaOlder, .schemaTooOld, .schemaNewer, .schemaChanged, .functionsDiffer,
            .definitionRefused,
            .migrationChanged, .viewInUse, .viewNotRefreshed, .noSQLFiles,
            .readOnlyReplica, .appMismatch, .partitionsDecided:
            .configuration
        case .invariant: .bug
        case .cannotCreate, .directoryInUse: .cannotCreate
        case .cannotRead, .cannotWrite: .ioError
        }
    }

    private static func sentence(of timeout: LockTimeout) -> String {
        let wait = "PostgreSQL: waited \(timeout.limit?.inWords ?? "too long") for \(timeout.purpose)"
        guard !timeout.holders.isEmpty else { return "\(wait); no session holds such a lock any more. Run again" }
        let holders = timeout.holders.map(\.description).joined(separator: "; ")
        return "\(wait). Such locks are held by \(holders). Wait until they are done, or end them "
            + "(pg_terminate_backend), and run again"
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
                "PostgreSQL: \(error.message). StoreLedger needs a session of its own for each connection: connect directly to PostgreSQL, or set pool_mode = session in the pooler (docs/operations/database.md)"
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
