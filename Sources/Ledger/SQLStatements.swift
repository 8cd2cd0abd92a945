package import Postgres

/// The statements in `Sources/Ledger/SQL`; each file says what it does and what its parameters mean.
extension SQLStatement {
    static let advanceItem = SQLStatement(file: PackageResources.advance_item_sql)
    static let appTransactionOfListed = SQLStatement(file: PackageResources.app_transaction_of_listed_sql)
    static let countRetryable = SQLStatement(file: PackageResources.count_retryable_sql, parts: partsOfRetryable)
    static let countRun = SQLStatement(file: PackageResources.count_run_sql)
    static let endUnlistedStatuses = SQLStatement(file: PackageResources.end_unlisted_statuses_sql)
    static let formerTokens = SQLStatement(file: PackageResources.former_tokens_sql)
    static let isDismissedReject = SQLStatement(file: PackageResources.is_dismissed_reject_sql)
    static let isKnownReject = SQLStatement(file: PackageResources.is_known_reject_sql)
    static let isPageCommitted = SQLStatement(file: PackageResources.is_page_committed_sql)
    static let joinRun = SQLStatement(file: PackageResources.join_run_sql)
    static let largeTables = SQLStatement(file: PackageResources.large_tables_sql)
    static let leaseItems = SQLStatement(file: PackageResources.lease_items_sql)
    static let markRevocation = SQLStatement(file: PackageResources.mark_revocation_sql)
    static let nextItem = SQLStatement(file: PackageResources.next_item_sql)
    static let readArchive = SQLStatement(file: PackageResources.read_archive_sql)
    static let readVersion = SQLStatement(file: PackageResources.read_version_sql)
    static let recentRun = SQLStatement(file: PackageResources.recent_run_sql)
    static let recordGap = SQLStatement(file: PackageResources.record_gap_sql)
    static let rememberReject = SQLStatement(file: PackageResources.remember_reject_sql)
    static let removeLeftGroups = SQLStatement(file: PackageResources.remove_left_groups_sql)
    static let removeLeftMembers = SQLStatement(file: PackageResources.remove_left_members_sql)
    static let renewItemLeases = SQLStatement(file: PackageResources.renew_item_leases_sql)
    static let resolveRejectedAnswers = SQLStatement(file: PackageResources.resolve_rejected_answers_sql)
    static let resolveRejects = SQLStatement(file: PackageResources.resolve_rejects_sql)
    static let sharedNames = SQLStatement(file: PackageResources.shared_names_sql)
    static let storeCounts = SQLStatement(file: PackageResources.store_counts_sql)
    static let storeDrift = SQLStatement(file: PackageResources.store_drift_sql)
    static let storeIssue = SQLStatement(file: PackageResources.store_issue_sql)
    static let storeQuotedIDs = SQLStatement(file: PackageResources.store_quoted_ids_sql)
    static let storeReject = SQLStatement(file: PackageResources.store_reject_sql)
    static let timeAhead = SQLStatement(file: PackageResources.time_ahead_sql)

    static let itemDeferred = outcome(
        """
        state = 'waiting', deferrals = deferrals + 1,
        claimable_at = clock_timestamp() + :detail::text::bigint * interval '1 millisecond'
        """
    )
    static let itemFailed = outcome("state = 'failed', claimable_at = NULL, finished_at = clock_timestamp()")
    static let itemMoved = outcome("\(waits), cursor = NULL, other_environment = :detail::text")
    static let itemRestarted = outcome("\(waits), cursor = NULL, restarts = restarts + 1")
    static let itemShortened = outcome(
        """
        \(waits), cursor = NULL, restarts = restarts + 1,
        window_start = timestamptz 'epoch' + :detail::text::bigint * interval '1 millisecond'
        """
    )

    private static let waits = "state = 'waiting', claimable_at = clock_timestamp()"

    private static func outcome(_ change: String) -> SQLStatement {
        SQLStatement(file: PackageResources.record_outcome_sql, parts: ["change": Array(change.utf8)])
    }

    /// Removes the listed IDs of erased customers.
    ///
    /// - Parameter kind: The kind of the IDs.
    /// - Returns: The statement of `drop_listed.sql`.
    static func dropListed(_ kind: CustomerID.Kind) -> SQLStatement {
        let mark = ErasureKey.sqlMark(of: "s.item_key", kind, inner: ":inner", outer: ":outer")
        return SQLStatement(file: PackageResources.drop_listed_sql, parts: ["mark": Array(mark.utf8)])
    }

    /// The condition of items that can be retried, for statements that name it like a parameter.
    package static let partsOfRetryable: [String: [UInt8]] = [
        "is_retryable": PackageResources.is_retryable_sql,
        "is_unknown_and_unlisted": PackageResources.is_unknown_and_unlisted_sql,
    ]

    static let ofLedger = [
        ("advance_item", advanceItem),
        ("count_retryable", countRetryable),
        ("count_run", countRun),
        ("end_unlisted_statuses", endUnlistedStatuses),
        ("former_tokens", formerTokens),
        ("is_dismissed_reject", isDismissedReject),
        ("is_known_reject", isKnownReject),
        ("is_page_committed", isPageCommitted),
        ("item_deferred", itemDeferred),
        ("item_failed", itemFailed),
        ("item_moved", itemMoved),
        ("item_restarted", itemRestarted),
        ("item_shortened", itemShortened),
        ("join_run", joinRun),
        ("large_tables", largeTables),
        ("lease_items", leaseItems),
        ("mark_revocation", markRevocation),
        ("next_item", nextItem),
        ("read_archive", readArchive),
        ("read_version", readVersion),
        ("recent_run", recentRun),
        ("record_gap", recordGap),
        ("remember_reject", rememberReject),
        ("renew_item_leases", renewItemLeases),
        ("resolve_rejected_answers", resolveRejectedAnswers),
        ("resolve_rejects", resolveRejects),
        ("shared_names", sharedNames),
        ("store_counts", storeCounts),
        ("store_drift", storeDrift),
        ("store_issue", storeIssue),
        ("store_quoted_ids", storeQuotedIDs),
        ("store_reject", storeReject),
        ("time_ahead", timeAhead),
    ]
}
