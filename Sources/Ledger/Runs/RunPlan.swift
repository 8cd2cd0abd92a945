package import AppStoreModel
package import JobPlan

/// What a run is to do, from the job file; the transaction IDs come beside it, a batch at a time.
package struct RunPlan: Sendable {
    package let job: JobFile
    package let app: AppID
    /// What `now` means in the whole run.
    package let now: UnixMilliseconds
    /// Begin everything at its beginning, whatever earlier runs reached.
    package let restart: Bool
    /// Of storeledger; filed with the run.
    package let version: String

    package init(job: JobFile, app: AppID, now: UnixMilliseconds, restart: Bool, version: String) {
        self.job = job
        self.app = app
        self.now = now
        self.restart = restart
        self.version = version
    }

    /// The same plan with the `now` that an earlier process froze.
    package func frozen(at now: UnixMilliseconds) -> RunPlan {
        RunPlan(job: job, app: app, now: now, restart: restart, version: version)
    }

    /// Streams with one item for each listed ID, from the beginning of the run.
    var streamsOfIDs: [Stream] {
        var streams: [Stream] = []
        if job.streams.transactionHistory != nil { streams.append(.transactionHistory) }
        if job.streams.refundHistory?.customers == .all { streams.append(.refundHistory) }
        if job.streams.notificationHistory?.scope == .transactions { streams.append(.notificationHistory) }
        return streams
    }

    /// Whether refunds are crawled only of customers in whose history a revocation was seen.
    package var refundsWait: Bool { job.streams.refundHistory?.customers == .revoked }

    /// Whether a finished item's cursor is worth keeping for the next run.
    ///
    /// A revision is bound to its query: with dates relative to now the next query is another one.
    package func keepsCursor(of stream: Stream) -> Bool {
        switch stream {
        case .transactionHistory: job.streams.transactionHistory?.isContinuable ?? false
        case .refundHistory: true
        case .notificationHistory: false
        }
    }

    /// Of all streams together; another one means another run.
    var fingerprint: String {
        job.streams.named.map { "\($0.rawValue)(\(job.queryFingerprint(for: $0)))" }.joined(separator: " ")
            + (refundsWait ? " revoked" : "")
    }
}

/// How a run began.
package struct RunStart: Sendable {
    package let run: Int64
    /// The `now` of the run, which an earlier process may have frozen.
    package let now: UnixMilliseconds
    package let joined: Bool
    package var listedIDs: Int64 = 0
    package var duplicateIDs: Int64 = 0
    /// Sentences for the operator: filters that changed, gaps that were found.
    package var remarks: [String] = []
}

extension HistoryStream {
    /// Whether the next run's query is the same, so that this run's last revision goes on working.
    var isContinuable: Bool {
        continuesFromRevision && startDate?.isFixed ?? true && endDate?.isFixed ?? true
    }
}

extension DateExpression {
    fileprivate var isFixed: Bool {
        if case .absolute = self { return true }
        return false
    }
}
