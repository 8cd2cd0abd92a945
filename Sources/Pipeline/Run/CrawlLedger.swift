import AppStoreModel
import Basics
import Crawl
import JobFiles
import Ledger
import LedgerSchema
import Normalize
import Streams

/// The crawler's interface to the ledger: it provides items and commits pages.
struct CrawlLedger: CrawlStore {
    let ledger: Ledger
    let plan: RunPlan
    let holder: LeaseHolder
    let leases: LeaseKeeper<HeldItem>
    /// For the records of the job's own environment.
    let destination: RecordDestination
    /// For items that continue in another environment; `nil` if the job does not allow it.
    let otherDestination: RecordDestination?
    let credentials: Credentials
    let time: Timekeeper

    /// The app in the ledger for the records of one environment, and their verifier.
    struct RecordDestination {
        let app: AppID
        let verifier: RecordVerifier
    }

    struct CheckedPage: Sendable {
        let records: VerifiedPage
        /// When the page was read, by the database's clock.
        let readAt: UnixMilliseconds
    }

    struct Rows: Sendable {
        let pageRows: PageRows
        let readAt: UnixMilliseconds
    }

    func lease(_ stream: StreamName, atMost count: Int) async throws -> LeaseAnswer {
        let requestedAt = time.monotonic()
        switch try await ledger.lease(stream, atMost: count, for: holder) {
        case .items(let items):
            crashPoint(.leaseAcknowledged)
            leases.add(items.map(HeldItem.init), requestedAt: requestedAt)
            return .items(items)
        case .later(let wait): return .later(wait)
        case .drained: return .drained
        }
    }

    func holds(_ item: WorkItem) -> Bool { leases.holds(HeldItem(item)) }

    func verify(_ page: Page, of item: WorkItem) throws -> CheckedPage {
        try credentials.checkRoots()
        let readAt = ledger.clock
        let verifier = try destination(of: item).verifier
        return CheckedPage(
            records: verifier.verify(page, from: item.stream, item: item.key, now: readAt),
            readAt: readAt
        )
    }

    func normalize(_ page: CheckedPage) -> Rows {
        let rows = Normalizer.normalize(page.records)
        crashPoint(.pageNormalized)
        return Rows(pageRows: rows, readAt: page.readAt)
    }

    func commit(_ rows: Rows, of page: Page, for item: WorkItem, requests: Int) async throws -> PageOutcome {
        let isLast = !page.hasMore
        let keepsCursor = plan.job.streams[item.stream]?.keepsCursor == true
        let pageCommit = PageCommit(
            item: item,
            holder: holder,
            rows: rows.pageRows,
            origin: RowOrigin(
                app: try destination(of: item).app,
                job: holder.job,
                run: holder.run,
                stream: item.stream,
                listedTransactionID: plan.job.streams[item.stream]?.items.needsTransactionIDs == true ? item.key : nil,
                readAt: rows.readAt,
                isSecondReading: item.reading.isRepeated,
                orderID: plan.job.streams[item.stream]?.items == .ownList ? item.key : nil,
                listedStatuses: plan.job.streams[item.stream]?.listedStatuses,
                wholeAnswer: isLast ? wholeAnswer(of: item) : nil
            ),
            cursor: isLast && !keepsCursor ? nil : page.cursor,
            isLast: isLast,
            completeUntil: isLast ? plan.completeUntil(item) : nil,
            requests: requests
        )
        guard let counts = try await ledger.commit(pageCommit) else {
            leases.remove(HeldItem(item))
            throw LeaseLost()
        }
        crashPoint(.pageCommitted)
        if isLast { leases.remove(HeldItem(item)) }
        var next = item
        next.cursor = pageCommit.cursor
        next.pageSequence += 1
        next.pageCount += 1
        return PageOutcome(
            item: next,
            rowsNew: counts.new,
            rowsUpdated: counts.updated,
            rowsUnchanged: counts.unchanged,
            rejected: rows.pageRows.rejected.map(\.reason),
            newlyRejected: counts.newlyRejected,
            sawRevocation: rows.pageRows.sawRevocation
        )
    }

    /// What the last page of an item completes.
    private func wholeAnswer(of item: WorkItem) -> RowOrigin.WholeAnswer? {
        switch plan.job.streams[item.stream]?.answerKind {
        case .customerGroup: .groupsOfCustomer
        case .groupMember: .membersOfGroup(item.key, since: plan.now)
        default: nil
        }
    }

    func record(_ outcome: ItemOutcome, of item: WorkItem, requests: Int) async throws {
        crashPoint(.outcomeDecided)
        let isRecorded = try await ledger.record(
            outcome,
            of: item,
            requests: requests,
            for: holder,
            plan: plan,
            now: ledger.clock
        )
        leases.remove(HeldItem(item))
        guard isRecorded else { throw LeaseLost() }
    }

    private func destination(of item: WorkItem) throws -> RecordDestination {
        guard item.otherEnvironment != nil else { return destination }
        guard let otherDestination else {
            throw LedgerError.invariant("\(item.key) is in an environment the job does not request")
        }
        return otherDestination
    }
}
