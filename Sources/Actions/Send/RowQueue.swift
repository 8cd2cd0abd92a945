import ActionKinds
import AppStoreModel
import Basics
import Hashing
import JobFiles
import Ledger
import LedgerSchema
import Postgres
import StrictJSON

/// The rows of one batch as a queue for all processes that send it.
struct RowQueue: Sendable {
    let actions: ActionLedger
    let batch: ActionBatch
    /// 16 random bytes; a new process is a new owner.
    let owner: [UInt8]

    /// The shortest wait that ``lease(atMost:)`` returns.
    ///
    /// While another process is taking the last available row, the computed wait is zero or less.
    private static let leastWait = Duration.milliseconds(20)

    private var pool: RetryingPool { actions.ledger.control }

    init(_ actions: ActionLedger, _ batch: ActionBatch) {
        self.actions = actions
        self.batch = batch
        var random = SystemRandomNumberGenerator()
        owner = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    /// Makes the rows of the batch available.
    func open() async throws {
        try await actions.ledger.transaction { connection in
            _ = try connection.run(
                .openRows,
                ["app": key[0], "batch": key[1]]
            )
            _ = try connection.run(
                """
                UPDATE action_batches SET started_at = coalesce(started_at, clock_timestamp()), finished_at = NULL
                 WHERE app_id = $1 AND batch_id = $2
                """,
                key
            )
            crashPoint(.batchOpened)
        }
    }

    enum Leased {
        case rows([LeasedRow])
        /// No row is available now; look again after this time.
        ///
        /// The next lease expires then, unless it is renewed. A row that is released is available earlier.
        case later(Duration)
        /// No row is left for this run: each has an outcome, is left to the next run, or may not be sent any more.
        case drained
    }

    /// Leases up to `count` rows to this process, those that became available first.
    func lease(atMost count: Int) async throws -> Leased {
        try await pool.transaction { connection in
            let taken = try connection.run(
                .leaseRows,
                [
                    "app": .integer(actions.app.rawValue), "batch": .uuid(batch.id), "owner": .uuid(owner),
                    "count": .bigint(Int64(count)),
                    "lease_milliseconds": .bigint(LeaseHolder.leaseLife.wholeMilliseconds),
                    "action": .text(actions.job.action.name.rawValue),
                    "keeps_refused_id": .boolean(actions.job.action.keepsRefusedID),
                ]
            )
            guard taken.count == 0 else {
                crashPoint(.rowsClaimed)
                return .rows(try taken.map(row))
            }
            let next = try connection.run(.nextRow, ["app": .integer(actions.app.rawValue), "batch": .uuid(batch.id)])
            guard let wait = try next[0].int64OrNil("wait_ms") else { return .drained }
            return .later(max(Self.leastWait, .milliseconds(wait)))
        }
    }

    /// - Throws: ``ActionRefusal/changedRow(hash:position:)`` for a row that is not as the plan froze it.
    private func row(_ row: PostgresRow) throws -> LeasedRow {
        let position = try row.int64("position")
        guard try batch.saltedSHA256 == nil || row.boolOrNil("is_unchanged") == true else {
            throw ActionRefusal.changedRow(hash: batch.sha256, position: position)
        }
        let known = try row.textOrNil("request_id").flatMap(UUIDText.bytes(of:))
        return LeasedRow(
            position: position,
            parameters: try actions.parameters(of: row),
            epoch: try row.int64("lease_epoch"),
            requestID: known ?? RequestID.row(position, of: batch.id),
            mayBeApplied: try row.bool("may_be_applied"),
            isLate: try row.bool("is_late"),
            answer: try row.utf8OrNil("answer").map {
                try StrictJSON.parseObject($0, sizeLimit: actions.job.action.sizeLimit)
            },
            expiresDateBefore: try row.timestampOrNil("expires_date_before").map(UnixMilliseconds.init(rawValue:)),
            transactionIDBefore: try row.textOrNil("transaction_id_before"),
            originalTransactionID: try row.textOrNil("subject"),
            requestReferenceIDBefore: try row.textOrNil("request_reference_id_before")
        )
    }

    /// Renews leases.
    ///
    /// - Returns: The rows whose leases this process still has.
    func renew(_ held: [HeldRow]) async throws -> [HeldRow] {
        try await pool.transaction { connection in
            let renewed = try connection.run(
                .renewRowLeases,
                [
                    "app": .integer(actions.app.rawValue), "batch": .uuid(batch.id), "owner": .uuid(owner),
                    "lease_milliseconds": .bigint(LeaseHolder.leaseLife.wholeMilliseconds),
                    "positions": .textArray(held.map { String($0.position) }),
                    "epochs": .textArray(held.map { String($0.epoch) }),
                ]
            ).map { HeldRow(position: try $0.int64("position"), epoch: try $0.int64("lease_epoch")) }
            crashPoint(.rowLeasesRenewed)
            return renewed
        }
    }

    /// Releases all rows of this process, so that another one can take them at once.
    func release() async throws {
        try await pool.transaction { connection in
            _ = try connection.run(
                """
                UPDATE action_rows SET lease_owner = NULL, claimable_at = clock_timestamp(),
                       state = CASE WHEN may_be_applied THEN 'unknown' ELSE 'approved' END
                 WHERE app_id = $1 AND batch_id = $2 AND lease_owner = $3
                """,
                key + [.uuid(owner)]
            )
        }
    }

    /// Whether rows of the batch may be sent for the first time.
    func isApproved() async throws -> Bool {
        try await pool.transaction { connection in
            try connection.run(
                "SELECT approval_is_in_force(b) AS is_approved FROM action_batches b WHERE app_id = $1 AND batch_id = $2",
                key
            )[0].bool("is_approved")
        }
    }

    /// Records that a request is about to be sent.
    ///
    /// - Parameters:
    ///   - purpose: Why the request is sent.
    ///   - policy: ``JobFiles/ActionJob/policySHA256`` of the job file as it is now.
    /// - Returns: The number of the attempt; `nil` while a request of another row with the same subject is at Apple, for an action
    ///   that groups rows.
    /// - Throws: ``RowLeaseLost`` when another process has leased the row, its deadline has passed, or no approval of
    ///   it is in force; ``ConsentWithdrawn`` when the customer does not consent any more;
    ///   ``ActionRefusal/policyChanged(approved:found:)``. Then nothing may be sent.
    func recordIntent(
        _ row: LeasedRow,
        _ purpose: AttemptPurpose,
        _ request: AppStoreRequest,
        policy: String?
    ) async throws -> Int32? {
        let intent: Intent = try await pool.transaction { connection in
            if purpose.mayChangeSomething, try hasRequestInFlight(row, on: connection) { return .waits }
            if purpose.mayChangeSomething, try !hasConsent(row, on: connection) { throw ConsentWithdrawn() }
            let recorded = try connection.run(
                .recordIntent,
                [
                    "app": .integer(actions.app.rawValue), "batch": .uuid(batch.id), "position": .bigint(row.position),
                    "epoch": .bigint(row.epoch), "owner": .uuid(owner), "request_id": .uuid(row.requestID),
                    "purpose": .text(purpose.rawValue), "request_digest": .bytea(request.sha256),
                    "policy": policy.map(Cell.text) ?? .null,
                ]
            )
            crashPoint(.intentInserted)
            return try recorded.first.map { .recorded(attempt: try $0.int32("attempt")) } ?? .refused
        }
        switch intent {
        case .recorded(let attempt): return attempt
        case .waits: return nil
        case .refused: break
        }
        if let approved = batch.policySHA256, approved != policy, !row.mayBeApplied {
            throw ActionRefusal.policyChanged(approved: approved, found: policy ?? "none")
        }
        throw RowLeaseLost()
    }

    private enum Intent {
        case recorded(attempt: Int32)
        /// A request of another row with the same subject is at Apple.
        case waits
        case refused
    }

    /// Whether a request of another row with the same subject is at Apple, for an action that groups rows.
    ///
    /// All rows of the subject are locked first, always in the same order, so of two processes one sees the intent of the other.
    private func hasRequestInFlight(_ row: LeasedRow, on connection: borrowing PostgresConnection) throws -> Bool {
        let action = actions.job.action
        guard action.groupsRows, let subject = action.subject(of: row.parameters) else { return false }
        _ = try connection.run(
            """
            SELECT FROM action_rows WHERE app_id = $1 AND subject = $2 AND ended_at IS NULL
             ORDER BY batch_id, position FOR UPDATE
            """,
            [key[0], .text(subject)]
        )
        return try connection.run(
            .findRequestInFlight,
            [
                "app": key[0], "batch": key[1], "position": .bigint(row.position), "subject": .text(subject),
                "action": .text(action.name.rawValue),
            ]
        )[0].bool("is_in_flight")
    }

    /// Ends a row whose deadline has passed, or releases a row without an approval in force.
    ///
    /// A row whose deadline has passed is cancelled. If an earlier request may have been applied, it stays unknown.
    ///
    /// - Returns: The new state; `nil` if the row may be sent, or another process has leased it.
    func giveUp(_ row: LeasedRow) async throws -> RowState? {
        try await pool.transaction { connection in
            try connection.run(
                .giveUpRow,
                [
                    "app": .integer(actions.app.rawValue), "batch": .uuid(batch.id), "position": .bigint(row.position),
                    "epoch": .bigint(row.epoch), "owner": .uuid(owner),
                ]
            ).first.flatMap { RowState(rawValue: try $0.text("state")) }
        }
    }

    /// Whether the policy of the batch still has the consent of the row's customer.
    private func hasConsent(_ row: LeasedRow, on connection: borrowing PostgresConnection) throws -> Bool {
        guard batch.policySHA256 != nil else { return true }
        guard let consent = actions.job.policy?.consent, let purchase = row.originalTransactionID else { return false }
        return try CustomerConsent.isGiven(consent, forPurchase: purchase, of: actions.app, on: connection)
    }

    /// Ends a row whose customer does not consent any more: it is cancelled, or stays unknown if an earlier request may have been
    /// applied.
    ///
    /// - Returns: The new state; `nil` if another process has leased the row.
    func endWithoutConsent(_ row: LeasedRow) async throws -> RowState? {
        try await pool.transaction { connection in
            try connection.run(
                .endRowWithoutConsent,
                [
                    "app": .integer(actions.app.rawValue), "batch": .uuid(batch.id), "position": .bigint(row.position),
                    "epoch": .bigint(row.epoch), "owner": .uuid(owner),
                ]
            ).first.flatMap { RowState(rawValue: try $0.text("state")) }
        }
    }

    /// Records the outcome of an attempt and the state of its row.
    ///
    /// A row that returns to `approved` is cancelled if the approval of its batch has ended meanwhile.
    ///
    /// - Throws: ``RowLeaseLost`` when another process has leased the row. The attempt is recorded, the row is not
    ///   changed.
    func record(_ change: RowChange, of row: LeasedRow, attempt: Int32) async throws {
        let isHeld = try await pool.transaction { connection in
            let result = change.result
            if change.state == .approved {
                // Another transaction that ends the approval updates the batch before its rows. With this lock, either it
                // finds this row unsent and cancels it, or this transaction finds the approval ended and cancels the row.
                _ = try connection.run(
                    "SELECT FROM action_batches WHERE app_id = $1 AND batch_id = $2 FOR SHARE",
                    key
                )
            }
            let updated = try connection.run(
                .recordOutcome,
                [
                    "app": .integer(actions.app.rawValue), "batch": .uuid(batch.id), "position": .bigint(row.position),
                    "epoch": .bigint(row.epoch), "owner": .uuid(owner), "attempt": .integer(attempt),
                    "http_status": result.status.map { Cell.integer(Int32(clamping: $0)) } ?? .null,
                    "apple_code": result.code.map(Cell.bigint) ?? .null,
                    "message": result.message.map(Cell.text) ?? .null,
                    "answer_digest": result.body.map { Cell.bytea(SHA256.digest(of: $0)) } ?? .null,
                    "answer_body": result.body.map { Cell.bytea(Array($0.prefix(65_536))) } ?? .null,
                    "state": .text(change.state.rawValue), "may_be_applied": .boolean(change.mayBeApplied),
                    "kept": change.kept.map { Cell.jsonb(JSONWriter.bytes(.object($0))) } ?? .null,
                    "confirmed_by": change.confirmedBy.map(Cell.text) ?? .null,
                    "is_end": .boolean(change.isEnd), "releases": .boolean(change.releases),
                    "later_milliseconds": change.availableAfter.map { Cell.bigint($0.wholeMilliseconds) } ?? .null,
                ]
            ).count
            crashPoint(.outcomeUpdated)
            return updated == 1
        }
        guard isHeld else { throw RowLeaseLost() }
    }

    /// Whether a request of another batch may have extended the row's subscription since the plan, as far as the ledger knows.
    ///
    /// Then a later date in Apple's data does not prove that the request of this row was applied. Call it after Apple has
    /// answered: every request is in the ledger before it is sent, so none that can be in Apple's answer is missed.
    func hasOtherExtension(_ subject: String) async throws -> Bool {
        try await pool.transaction { connection in
            try connection.run(
                .countOtherExtensions,
                [
                    "app": .integer(actions.app.rawValue), "batch": .uuid(batch.id), "subject": .text(subject),
                    "action": .text(ExtendRenewalDate.name.rawValue),
                    "action_of_all": .text(ExtendRenewalDatesForAll.name.rawValue),
                ]
            )[0].int64("requests") > 0
        }
    }

    /// What Apple's SUMMARY notification says about a row's request, if the notification is in the ledger.
    ///
    /// - Returns: The members that an answer of Apple's status endpoint has; `nil` without the notification.
    func summary(of row: LeasedRow) async throws -> JSONObject? {
        try await pool.transaction { connection in
            try connection.run(
                .extensionSummary,
                ["app": .integer(actions.app.rawValue), "request": .text(UUIDText.text(of: row.requestID))]
            ).first.map { try StrictJSON.parseObject(try $0.utf8("counts")) }
        }
    }

    /// Marks the batch as finished if no row of it is left to send.
    func finish() async throws {
        try await pool.transaction { connection in
            _ = try connection.run(
                .finishBatch,
                ["app": key[0], "batch": key[1]]
            )
            crashPoint(.batchFinished)
        }
    }

    private var key: [Cell] { [.integer(actions.app.rawValue), .uuid(batch.id)] }
}

/// Another process took the row, its deadline has passed, or no approval of it is in force.
struct RowLeaseLost: Error {}

/// The customer of the row does not consent any more, so nothing may be sent.
struct ConsentWithdrawn: Error {}

/// The result of an attempt, and the new state of its row.
struct RowChange {
    /// An answer, or the reason why there is none.
    struct Result {
        var status: Int?
        var code: Int64?
        var message: String?
        /// The ledger stores its SHA-256 and its first 65,536 bytes.
        var body: [UInt8]?
    }

    var result: Result
    let state: RowState
    let mayBeApplied: Bool
    /// Members of the answer that are kept with the row.
    var kept: JSONObject?
    /// What in Apple's data showed the outcome.
    var confirmedBy: String?
    /// Whether the row has an outcome.
    var isEnd = false
    /// Whether the lease ends.
    ///
    /// A row without an outcome is then left to the next run.
    var releases = false
    /// Gives up the lease of a row without an outcome, which is available again after this time.
    var availableAfter: Duration?
}

extension AppStoreRequest {
    /// SHA-256 of method, path and body.
    var sha256: [UInt8] {
        SHA256.digest(of: Array("\(method) \(target)\n".utf8) + (body ?? []))
    }
}
