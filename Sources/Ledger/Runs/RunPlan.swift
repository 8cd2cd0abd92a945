package import AppStoreModel
import Basics
import Hashing
package import JobFiles
package import JobSyntax
package import LedgerSchema
package import Streams

/// The plan of a run, from the job file, without the transaction IDs, which are read in batches.
package struct RunPlan: Sendable {
    package let job: JobFile
    package let app: AppID
    /// The value of `now` in the whole run.
    package let now: UnixMilliseconds
    /// Moments after this one have not come: the later of PostgreSQL's clock and this machine's when the process began.
    ///
    /// A ledger with such moments was written while PostgreSQL's clock was ahead. If PostgreSQL's clock is behind,
    /// this machine's clock shows which later moments have already passed.
    package var latestNow: UnixMilliseconds
    /// Whether all items start at their first page.
    package let restart: Bool
    /// The version of storeledger, stored with the run.
    package let version: String
    /// SHA-256 of each root under which the run's records must be signed, stored with the run.
    package let trustedRoots: [String]
    /// The job's file, stored with the run; `nil` if the job was not read from one.
    package var jobFile: JobFilePlace?
    /// How long to wait while another process starts a run of the job.
    package var lockTimeout = Ledger.longLockTimeout

    package init(
        job: JobFile,
        app: AppID,
        now: UnixMilliseconds,
        restart: Bool,
        version: String,
        trustedRoots: [String] = []
    ) {
        self.job = job
        self.app = app
        self.now = now
        latestNow = now
        self.restart = restart
        self.version = version
        self.trustedRoots = trustedRoots.sorted()
    }

    /// The oldest start date for notifications.
    package var oldestNotification: UnixMilliseconds { job.app.environment.oldestNotification(at: now) }

    /// Whether an item's window begins at the oldest date that Apple served when the run began.
    ///
    /// In a long run that date moves on, so later items can lack time. This is not a gap, because the job requests
    /// everything that Apple has.
    package func startsAtOldestServedDate(_ item: WorkItem) -> Bool {
        guard let start = item.window?.lowerBound else { return false }
        return job.streams[item.stream]?.dates?.startDate == .lastRun && start <= oldestNotification
    }

    /// Streams with one item for each listed ID, from the start of the run.
    package var streamsOfIDs: [StreamName] { job.streams.names(with: .listedIDs) }

    /// Streams whose customers are known once the others have finished; see ``Streams/ItemSource``.
    package var streamsOfRevocations: [StreamName] { job.streams.names(with: .customersWithRevocation) }

    /// Streams with one item for each group that the ledger knows.
    package var streamsOfGroups: [StreamName] { job.streams.names(with: .knownGroups) }

    /// Streams whose items are planned when the others have finished.
    package var streamsOfLastPhase: [StreamName] { streamsOfRevocations + streamsOfGroups }

    /// Streams with their own list of IDs.
    package var streamsOfOwnLists: [StreamName] { job.streams.names(with: .ownList) }

    /// Streams with one item for each ID of a list, the job's or their own.
    package var streamsOfLists: [StreamName] { streamsOfIDs + streamsOfOwnLists }

    /// Streams of which each run requests every ID of a list; with `changedSince` those with their own list.
    package var streamsOfWholeLists: [StreamName] { changedSince == nil ? streamsOfLists : streamsOfOwnLists }

    /// Streams with app-wide windows.
    package var streamsOfWindows: [StreamName] { job.streams.names(with: .windows) }

    /// The earliest date of the notifications from which the run takes its customers; `nil` for a run with a list.
    package var customersSince: UnixMilliseconds? {
        changedSince.map { max($0.resolve(now: now, lastRun: nil) ?? oldestNotification, oldestNotification) }
    }

    /// The `changedSince` of the job; `nil` if the job lists the customers itself.
    package var changedSince: DateExpression? {
        guard case .changedSince(let since) = job.transactionIds else { return nil }
        return since
    }

    /// Whether the IDs of a list can change without a change of the job file.
    package var idsMayChange: Bool {
        ([job.transactionIds?.list] + job.streams.all.map { $0.ownList?.list }).contains { $0?.mayChange == true }
    }

    /// Until when an item is complete after its last page is committed.
    package func completeUntil(_ item: WorkItem) -> UnixMilliseconds {
        if let window = item.window { return window.upperBound }
        return min(now, job.streams[item.stream]?.end(now: now) ?? now)
    }

    /// Identifies the streams with their filters, without the source of the IDs.
    package var streamsFingerprint: String {
        SHA256.digest(of: Array(streamParts.joined(separator: "\n").utf8)).hexadecimal
    }

    private var streamParts: [String] {
        job.streams.names.map { "\($0.rawValue)(\(job.queryFingerprint(for: $0)))" }
            + job.streams.all.compactMap(\.planFingerprint)
    }

    /// Identifies the streams and the source of the IDs.
    ///
    /// A run can be resumed only with the same fingerprint.
    package var fingerprint: String {
        var parts = streamParts
        if job.appStore.triesSandbox { parts.append("sandbox") }
        switch job.transactionIds {
        case nil: break
        case .listed(let list): parts.append(list.fingerprint)
        case .changedSince(let since): parts.append("changedSince \(since.fingerprint)")
        }
        return SHA256.digest(of: Array(parts.joined(separator: "\n").utf8)).hexadecimal
    }
}
