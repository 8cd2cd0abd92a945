import ActionKinds
import JobFiles
import JobSyntax
import Ledger
import Postgres

extension ActionJob {
    /// A check of the file that the input or its consents come from; `nil` without a file.
    ///
    /// The check returns a finding and throws ``ActionInputError``.
    package var inputFileCheck: (@Sendable () throws -> String)? {
        switch input {
        case .csv(let path): return { try Self.countRows(of: path) { try InputFeed.readFile(path, for: self, $0) } }
        case .json(let path): return { try Self.countRows(of: path) { try InputFeed.readReports(path, for: self, $0) } }
        case .policy(let policy):
            guard case .listed(.csv(let path, let name)) = policy.consent,
                let column = name.flatMap(CustomerIDColumn.init(rawValue:))
            else { return nil }
            return {
                _ = try CustomerConsent.read(path, column, [])
                return "\(path) has the column \(column.rawValue)"
            }
        case .folder(let path):
            return {
                let folder = try RetentionFolder(path: path)
                return
                    "\(path) has \(folder.messages.count) messages and \(folder.defaults.count) defaults, and deletes \(folder.deletions.count)"
            }
        case .query, .none: return nil
        }
    }

    /// - Parameter read: Hands over the rows of the file, and returns its columns.
    private static func countRows(
        of path: String,
        _ read: (_ take: ([InputRow]) throws -> Void) throws -> [String]
    ) throws -> String {
        var (rows, invalid) = (0, 0)
        _ = try read { batch in
            rows += batch.count
            invalid += batch.count { $0.problem != nil }
        }
        return "\(path) has \(rows) rows\(invalid > 0 ? ", \(invalid) of them invalid" : "")"
    }

    /// Whether the job file has a query that PostgreSQL has to accept.
    package var readsQuery: Bool {
        switch input {
        case .query: true
        case .policy(let policy): if case .listed(.query) = policy.consent { true } else { false }
        case .csv, .json, .folder, .none: false
        }
    }
}

extension ActionLedger {
    /// Has PostgreSQL check the query of the input or of the consents, and compares its columns with the action's.
    ///
    /// - Throws: ``ActionInputError``, ``Postgres/PostgresError``.
    package func checkQuery() async throws -> String {
        let job = job
        return try await ledger.transaction(.readOnlySnapshot) { connection in
            switch job.input {
            case .query(let sql):
                let names = try InputFeed.columns(of: sql, [], "input.query", on: connection)
                _ = try InputHeader(names, of: "input.query", for: job)
                let shared = try queryWarnings(on: connection)
                return (["input.query has the columns \(names.joined(separator: ", "))"] + shared).joined(
                    separator: "; "
                )
            case .policy(let policy):
                _ = try CustomerConsent(policy.consent, for: [], on: connection)
                return (["customerConsented.query names customers"] + (try queryWarnings(on: connection))).joined(
                    separator: "; "
                )
            case .csv, .json, .folder, .none: return ""
            }
        }
    }

    /// Warnings about names in the job's query that exist both in the user's tables and in the ledger.
    ///
    /// Each sentence says which of the two the query reads: a query for the input reads the ledger's views, and a query for
    /// consents reads the user's tables.
    ///
    /// - Throws: ``Postgres/PostgresError``.
    package func queryWarnings() async throws -> [String] {
        try await ledger.transaction(.readOnlySnapshot) { connection in try queryWarnings(on: connection) }
    }

    private func queryWarnings(on connection: borrowing PostgresConnection) throws -> [String] {
        switch job.input {
        case .query(let sql):
            try UserTables.sharedNames(in: sql, on: connection).map { $0.readsLedger("input.query") }
        case .policy(let policy):
            if case .listed(.query(let sql)) = policy.consent {
                try UserTables.sharedNames(in: sql, on: connection).map { $0.readsOwn("customerConsented.query") }
            } else {
                []
            }
        case .csv, .json, .folder, .none: []
        }
    }

    /// What the session's role may do with batches.
    ///
    /// - Throws: ``ActionRefusal/noRight(role:)`` if `actions plan` and `actions run` would be refused,
    ///   ``ActionRefusal/mustBeApproved(role:)`` if the job needs no approval and the role may not plan without one.
    package func checkRole() async throws -> String {
        let decides = !job.approval.isRequired
        return try await ledger.transaction { connection in
            let rights = try connection.run(
                """
                SELECT session_user::text AS role, has_column_privilege('action_batches', 'approved_at', 'UPDATE') AS approves,
                       has_any_column_privilege('action_batches', 'INSERT') AND has_table_privilege('action_attempts', 'INSERT') AS acts,
                       has_column_privilege('action_batches', 'approval_required', 'INSERT') AS decides
                """,
                []
            )[0]
            let role = try rights.text("role")
            guard try rights.bool("acts") else { throw ActionRefusal.noRight(role: role) }
            guard try !decides || rights.bool("decides") else { throw ActionRefusal.mustBeApproved(role: role) }
            return
                "\(role) plans and sends\(try rights.bool("approves") ? ", and approves" : ", and another role approves")"
        }
    }

    /// A sentence about the batches that a run would send, or about the policy that is in force.
    ///
    /// - Throws: ``ActionRefusal``, as a run does.
    package func batchFinding() async throws -> String {
        // `actions run --follow` needs only the policy's approval, and no approved batch.
        if try await policyApproval() != nil {
            do {
                let approval = try await policyInForce()
                return
                    "policy \(approval.sha256) is approved until \(approval.expiresAt.iso8601), for \(approval.rowsLeft) more rows"
            } catch let refusal as ActionRefusal {
                // A later batch can be approved by itself.
                guard let newest = try await batches().first, newest.policyApproval == nil else { throw refusal }
            }
        }
        let batches = try await batchesToSend()
        for batch in batches {
            try refuseTooMany(batch)
            if batch.isExpired, try await states(of: batch)[RowState.approved.rawValue, default: 0] > 0 {
                throw ActionRefusal.expired(hash: batch.sha256, at: batch.expiresAt?.iso8601 ?? "")
            }
        }
        guard !batches.isEmpty else {
            let newest = try await self.batches().first
            return newest?.rowsToSend == 0 ? "no row of the newest batch would be sent" : "every batch was sent"
        }
        return batches.map { "\($0.sha256) can be sent" }.joined(separator: ", ")
    }
}
