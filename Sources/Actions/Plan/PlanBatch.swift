import ActionKinds
import AppStoreModel
import Basics
import JobFiles
import Ledger
import LedgerSchema
import Postgres
import StrictJSON

extension ActionLedger {
    /// Plans a batch: reads, normalises and checks every row, and freezes the result.
    ///
    /// Sends nothing. A row that names an erased customer is ineligible, and nothing of it is stored but its position. Everything
    /// happens in one transaction, so a batch is stored with all of its rows or not at all. It replaces
    /// an earlier plan of the job that was not approved.
    ///
    /// - Parameter source: Where the rows come from.
    /// - Throws: ``ActionInputError``, ``ActionRefusal/plannedAtOnce``, ``Postgres/PostgresError``.
    package func plan(_ source: BatchSource) async throws -> ActionBatch {
        do {
            return try await withoutErasedCustomers { connection, erased in
                let batch = try plan(source, without: erased, requiresApproval: job.approval.isRequired, on: connection)
                crashPoint(.batchPlanned)
                return try self.batch(batch, on: connection)
            }
        } catch let error as PostgresError where error.isOvertaken {
            throw ActionRefusal.plannedAtOnce
        }
    }

    /// Plans a batch in the transaction of `connection`.
    ///
    /// - Returns: The ID of the batch.
    /// - Throws: ``ErasedMeanwhile``; otherwise as ``plan(_:)``.
    func plan(
        _ source: BatchSource,
        without erased: ErasedCustomers,
        requiresApproval: Bool,
        on connection: borrowing PostgresConnection
    ) throws -> [UInt8] {
        try connection.script(
            Ledger.defaultPlanner
                + "; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL work_mem = '64MB'"
        )
        try connection.script(SQLStatement.createActionStage.text)
        // The plan ends the approvals of older batches. It takes this lock before it locks a row, so that it cannot
        // deadlock.
        if !requiresApproval { try lockApprovals(on: connection) }
        let (columns, sha256) = try stage(source, without: erased, on: connection)
        let discarded = try connection.run(
            "SELECT discard_plans($1::integer, $2::text) AS discarded",
            [.integer(app.rawValue), .text(job.name)]
        )
        _ = try discarded[0].int64("discarded")
        let occurrence = try connection.run(
            "SELECT count(*) AS batches FROM action_batches WHERE app_id = $1 AND coalesce(parameters_sha256, rows_sha256) = $2",
            [.integer(app.rawValue), .text(sha256)]
        )[0].int64("batches")
        let batch = RequestID.batch(sha256, occurrence: occurrence)
        if job.action.groupsRows { try groupReports(on: connection) }
        try connection.script("ANALYZE stage_action_rows")
        try check(batch, on: connection)
        if job.action.groupsRows {
            _ = try connection.run(.insertInputRows, ["app": .integer(app.rawValue), "batch": .uuid(batch)])
        }
        try insert(batch, sha256, occurrence, source, columns, requiresApproval: requiresApproval, on: connection)
        try erased.blockErasures(on: connection)
        return batch
    }

    /// A batch that the transaction of `connection` has planned.
    func batch(_ id: [UInt8], on connection: borrowing PostgresConnection) throws -> ActionBatch {
        guard let planned = try batches(on: connection).first(where: { $0.id == id }) else {
            throw LedgerError.invariant("the planned batch vanished")
        }
        return planned
    }

    /// Checks the lines of external purchase reports against each other and against the ledger, and makes a row of each report.
    private func groupReports(on connection: borrowing PostgresConnection) throws {
        try connection.script("ANALYZE stage_input_rows")
        _ = try connection.run(
            .checkReportLines,
            [
                "app": .integer(app.rawValue), "action": .text(job.action.name.rawValue),
                "is_sandbox": .boolean(job.app.environment == .sandbox),
                "most_lines": .bigint(ReportExternalPurchases.mostLines),
            ]
        )
        _ = try connection.run(.groupReports)
        _ = try connection.run(.refuseReports)
    }

    /// Copies the normalised rows.
    ///
    /// - Returns: The kept columns, and ``BatchDigest`` of the rows.
    private func stage(
        _ source: BatchSource,
        without erased: ErasedCustomers,
        on connection: borrowing PostgresConnection
    ) throws -> (columns: [String], sha256: String) {
        var digest = BatchDigest(of: job)
        let groupsRows = job.action.groupsRows
        let columns = try InputFeed(source: source.feed, app: app, job: job).read(on: connection) { rows in
            var cells: [Row] = []
            cells.reserveCapacity(rows.count)
            for row in try erased.clearing(rows, on: connection) {
                let json = row.parameters?.bytes
                digest.add(row.position, json)
                cells.append(
                    [
                        .bigint(row.position), row.line.map { .bigint(Int64($0)) } ?? .null, .textArray(row.input),
                        json.map(Cell.jsonb) ?? .null,
                        (groupsRows ? row.group : row.subject).map(Cell.text) ?? .null,
                        row.problem.map { .text($0.rule) } ?? .null, row.problem.map { .text($0.reason) } ?? .null,
                        row.verdict.map { .text($0.rawValue) } ?? .null,
                        row.answer.map { .jsonb(JSONWriter.bytes(.object($0))) } ?? .null,
                    ]
                )
            }
            try connection.copyIn(
                groupsRows ? "stage_input_rows" : "stage_action_rows",
                columns: [
                    "position", "line", "input", "parameters", "subject", "rule", "reason", "given_verdict", "answer",
                ],
                rows: cells
            )
        }
        return (columns, digest.finish())
    }

    /// Writes the rows with their verdicts.
    private func check(_ batch: [UInt8], on connection: borrowing PostgresConnection) throws {
        let isAdvancedCommerce = job.action is any AdvancedCommerceAction.Type
        switch job.action.subjectKind {
        case .subscriptionOfTransaction,
            .transaction where isAdvancedCommerce:
            try checkAdvancedCommerce(on: connection)
        case .subscription:
            _ = try connection.run(
                .subscriptionFacts,
                ["app": .integer(app.rawValue), "action": .text(job.action.name.rawValue)]
            )
        case .transaction: _ = try connection.run(.transactionFacts, ["app": .integer(app.rawValue)])
        case .product: _ = try connection.run(.productFacts, ["app": .integer(app.rawValue)])
        // The facts are in the lines of the reports.
        case .externalPurchaseToken, nil: break
        case .seat:
            _ = try connection.run(
                .seatFacts,
                [
                    "app": .integer(app.rawValue), "job": .text(job.name), "action": .text(job.action.name.rawValue),
                    "needs_free_seat": .boolean(job.action.ledgerRules.contains(.freeSeat)),
                    "needs_claim": .boolean(job.action.ledgerRules.contains(.knownClaim)),
                ]
            )
        }
        try connection.script("ANALYZE stage_action_facts")
        if job.action.ledgerRules.contains(.consumptionVersion) {
            _ = try connection.run(.undeliveredPercentages)
        }
        _ = try connection.run(
            .checkRows,
            [
                "app": .integer(app.rawValue), "batch": .uuid(batch), "job": .text(job.name),
                "action": .text(job.action.name.rawValue),
                // Two transactions can name one subscription.
                "subject_column": .text(
                    job.action.subjectKind == .subscriptionOfTransaction ? "subscription" : job.action.subject ?? ""
                ),
                "rules": .textArray(job.action.ledgerRules.map(\.rawValue)),
                "stake": .text(job.action.stake?.rawValue ?? ""),
            ]
        )
    }

    /// Looks up what the ledger knows of Advanced Commerce subscriptions or transactions, and checks Apple's rules for them.
    private func checkAdvancedCommerce(on connection: borrowing PostgresConnection) throws {
        let isOfTransaction = job.action.subjectKind == .transaction
        if !isOfTransaction { _ = try connection.run(.resolveSubscriptions, ["app": .integer(app.rawValue)]) }
        _ = try connection.run(
            .advancedCommerceFacts,
            [
                "app": .integer(app.rawValue), "of_transaction": .boolean(isOfTransaction),
                "rules": .textArray(job.action.ledgerRules.map(\.rawValue)),
                "sends_token": .boolean(job.action.sendsConsistencyToken),
                "action": .text(job.action.name.rawValue),
                "is_sandbox": .boolean(job.app.environment == .sandbox),
            ]
        )
    }

    private func insert(
        _ batch: [UInt8],
        _ parametersSHA256: String,
        _ occurrence: Int64,
        _ source: BatchSource,
        _ columns: [String],
        requiresApproval: Bool,
        on connection: borrowing PostgresConnection
    ) throws {
        let hashes = try hashes(of: batch, on: connection)
        _ = try connection.run(
            requiresApproval ? .insertBatch : .insertBatchWithoutApproval,
            [
                "app": .integer(app.rawValue),
                "batch": .uuid(batch),
                "job": .text(job.name),
                "action": .text(job.action.name.rawValue),
                "rows_hash": .text(hashes.sha256),
                "occurrence": .bigint(occurrence),
                "input_name": source.fileName.map(Cell.text) ?? .null,
                "input_hash": source.fileSHA256.map(Cell.text) ?? .null,
                "input_columns": .textArray(columns),
                "policy_hash": (source.isOfPolicy ? job.policySHA256 : nil).map(Cell.text) ?? .null,
                "parameters_hash": .text(parametersSHA256),
                "salted_hash": .text(hashes.saltedSHA256),
            ]
        )
    }
}
