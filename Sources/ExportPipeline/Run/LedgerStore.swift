import AppStoreModel
import Crawl
import JobPlan
import Ledger
import LedgerTables
import Normalize
import Workers

/// The crawl's store: pages are verified and normalised here, and committed with their cursor by the ledger.
struct LedgerStore: CrawlStore {
    let ledger: Ledger
    let plan: RunPlan
    let holder: LeaseHolder
    let leases: LeaseKeeper
    /// Where the records of the job's own environment belong.
    let desk: Desk
    /// For items that went on in another environment: its records belong to another app of the ledger.
    let otherDesk: Desk?
    let time: Timekeeper
    /// What to add to `Timekeeper.monotonic` for the database's clock: the one shared clock judges what was signed in the
    /// future, and a step of this machine's own changes nothing.
    let databaseEpoch: UnixMilliseconds

    /// Who judges the records of an environment, and under which app they are filed.
    struct Desk {
        let app: AppID
        let normalizer: Normalizer
    }

    private var databaseNow: UnixMilliseconds { databaseEpoch + time.monotonic() }

    func lease(_ stream: StreamName, atMost count: Int) async throws -> LeaseAnswer {
        let asked = time.monotonic()
        switch try await ledger.lease(stream, atMost: count, for: holder) {
        case .items(let items):
            crashPoint(.leaseAcknowledged)
            leases.took(items, asked: asked)
            return .items(items)
        case .later(let wait): return .later(wait)
        case .drained: return .drained
        }
    }

    func holds(_ item: WorkItem) -> Bool { leases.holds(item) }

    func commit(_ page: Page, of item: WorkItem, requests: Int) async throws -> PageOutcome {
        let desk = try desk(for: item)
        let readAt = databaseNow
        let rows = desk.normalizer.normalize(page, from: item.stream, now: readAt)
        crashPoint(.pageNormalized)
        let isLast = !page.hasMore
        let commit = PageCommit(
            item: item,
            holder: holder,
            rows: rows,
            origin: RowOrigin(
                app: desk.app,
                job: holder.job,
                run: holder.run,
                stream: item.stream,
                listedTransactionID: TransactionID(item.key)?.text,
                readAt: readAt,
                isSecondReading: item.reading == .second
            ),
            cursor: isLast && plan.job.streams[item.stream]?.keepsCursor != true ? nil : page.cursor,
            isLast: isLast,
            completeUntil: isLast ? plan.completeUntil(item) : nil,
            requests: requests
        )
        guard let counts = try await ledger.commit(commit) else {
            leases.letGo(of: item)
            throw LeaseLost()
        }
        crashPoint(.pageCommitted)
        if isLast { leases.letGo(of: item) }
        var next = item
        next.cursor = commit.cursor
        next.pageSequence += 1
        next.pageCount += 1
        return PageOutcome(
            item: next,
            rowsNew: counts.new,
            rowsUpdated: counts.updated,
            rowsUnchanged: counts.unchanged,
            rejected: rows.rejected.map(\.reason),
            newlyRejected: counts.newlyRejected
        )
    }

    func file(_ end: ItemEnd, of item: WorkItem, requests: Int) async throws {
        let standing: ItemStanding
        var code: Int64?
        let message: String
        switch end {
        case .failed(let errorCode, let text): (standing, code, message) = (.failed, errorCode, text)
        case .putOff(let delay, let errorCode, let text): (standing, code, message) = (.putOff(delay), errorCode, text)
        case .restarted(let errorCode, let text): (standing, code, message) = (.restarted, errorCode, text)
        case .moved(let environment):
            (standing, message) = (
                .moved(environment),
                "not known to \(plan.job.app.environment.rawValue), tried in \(environment.rawValue)"
            )
        case .clamped(let errorCode, let text):
            let environment = item.otherEnvironment ?? plan.job.app.environment
            let oldest = environment.oldestNotification(at: databaseNow)
            let isGone = item.window.map { $0.upperBound <= oldest } ?? true
            // A time that is read again has been read before.
            let leavesGap = item.reading == .first && !plan.asksAsFarBackAsApple(item)
            (code, message) = (errorCode, text)
            standing = isGone ? .failed : .clamped(newStart: oldest, leavesGap: leavesGap)
        }
        crashPoint(.standingChosen)
        let isFiled = try await ledger.file(
            standing,
            of: item,
            errorCode: code,
            message: message,
            requests: requests,
            for: holder
        )
        leases.letGo(of: item)
        guard isFiled else { throw LeaseLost() }
    }

    private func desk(for item: WorkItem) throws -> Desk {
        guard item.otherEnvironment != nil else { return desk }
        guard let otherDesk else {
            throw LedgerError.invariant("\(item.key) is in an environment the job does not ask")
        }
        return otherDesk
    }
}
