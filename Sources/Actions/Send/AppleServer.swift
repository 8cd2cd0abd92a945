import ActionKinds
package import AppStoreAPI
package import AppStoreModel
package import Basics
import HTTPTransport
package import Normalize
import Streams

/// Apple's server, as the sender of a batch uses it.
package struct AppleServer: Sendable {
    private let client: AppStoreClient
    private let verifier: RecordVerifier
    private let now: @Sendable () -> UnixMilliseconds
    private let time: Timekeeper

    /// - Parameters:
    ///   - verifier: Of the job's app.
    ///   - now: PostgreSQL's clock.
    ///   - time: Its monotonic clock.
    package init(
        client: AppStoreClient,
        verifier: RecordVerifier,
        now: @escaping @Sendable () -> UnixMilliseconds,
        time: Timekeeper
    ) {
        self.client = client
        self.verifier = verifier
        self.now = now
        self.time = time
    }

    /// Sends a request once.
    ///
    /// - Parameter departsBy: The last moment at which it may be sent, on the monotonic clock.
    /// - Returns: The answer, or why there is none.
    /// - Throws: `CancellationError`, ``SignedData/SigningError``.
    func send(_ request: AppStoreRequest, departingBy departsBy: Duration) async throws -> SendResult {
        // `clockNow` is read first: a pause between the two readings then only makes the deadline earlier.
        let clockNow = ContinuousClock.now
        do {
            let departure = HTTPRequest.Departure(by: clockNow + (departsBy - time.monotonic()))
            return .answered(try await client.write(request, departing: departure))
        } catch let failure as WriteFailure {
            try Task.checkCancellation()  // a cancelled transfer also looks like a failed one
            return .failed(failure)
        }
    }

    /// The signed transactions and renewal infos in the body of Get All Subscription Statuses or Get Transaction Info, or the seat
    /// claims in the body of Get Seat Info.
    ///
    /// Records that are not signed by Apple for the job's app are left out.
    ///
    /// - Throws: ``AppStoreModel/RequestFailure/badPage(reason:)``.
    func records(in body: [UInt8], of readBack: ActionReadBack) throws(RequestFailure) -> SignedRecords {
        let now = now()
        let page =
            switch readBack {
            case .expiresDate, .advancedCommerceSubscription: try SubscriptionStatuses.page(body)
            case .appAccountToken, .advancedCommerceTransaction: try TransactionInfo.page(body)
            case .externalPurchaseReport, .retentionList, .defaultMessage, .realtimeURL:
                throw .badPage(reason: "this kind of answer has no signed records")
            case .seatClaims: try Seats.page(body)
            }
        var records = SignedRecords()
        for record in page.records {
            switch record {
            case .transaction(let jws):
                records.transactions += [verifier.transaction(jws, now: now)].compactMap(\.self)
            case .subscriptionStatus(let item):
                records.transactions += [item.transaction.flatMap { verifier.transaction($0, now: now) }].compactMap(
                    \.self
                )
                records.renewals += [item.renewalInfo.flatMap { verifier.renewal($0, now: now) }].compactMap(\.self)
            case .seatInfo(let seats): records.seatClaims = seats.assignedSeatClaimIds
            default: break
            }
        }
        return records
    }
}

/// What Apple signed in an answer, and the seat claims, which it does not sign.
struct SignedRecords: Equatable, Sendable {
    /// Empty for an answer without seats.
    var seatClaims: [String] = []
    var transactions: [VerifiedTransaction] = []
    var renewals: [VerifiedRenewal] = []
}
