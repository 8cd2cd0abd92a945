import ActionKinds
import AppStoreAPI
import AppStoreModel
import Basics
import Normalize
import StrictJSON

/// What Apple's data says about a request whose outcome is not known.
enum Evidence: Equatable {
    /// The data shows the effect; the sentence says where.
    case applied(String)
    /// Apple has the upload, and its list has the state of the review.
    case inReview(RetentionList)
    /// The data is as it was before the request.
    case notApplied(String)
    /// The data fits neither, so it proves nothing.
    case undecided(String)

    /// The tolerance for a date that should be a whole number of days later.
    private static let tolerance = Duration.seconds(3_600)

    /// - Parameters:
    ///   - row: The row. Its answer has `effectiveDate` if the repeated request succeeded.
    ///   - records: The signed records that Apple answered with.
    ///   - readBack: Which data shows the effect.
    ///   - subject: The ID that the row changes.
    init(of row: LeasedRow, in records: SignedRecords, _ readBack: ActionReadBack, subject: String) {
        switch readBack {
        case .expiresDate:
            guard let last = Self.last(of: subject, in: records.transactions), let expires = last.expiresDate else {
                self = .undecided("Apple's answer has no transaction of \(subject)")
                return
            }
            self = Self.extensionEvidence(row, last, expires)
        case .appAccountToken:
            guard
                let found = records.transactions.first(where: { $0.transactionId == row.currentTransactionID(subject) })
            else {
                self = .undecided("Apple's answer has no transaction of \(subject)")
                return
            }
            let place = "appAccountToken of transaction \(found.transactionId)"
            // Another token proves nothing: the subscription can have a newer transaction by now.
            let isWanted = found.appAccountToken == row.parameters.text("app_account_token")
            self = isWanted ? .applied(place) : .undecided("\(place) is another one")
        case .advancedCommerceSubscription(let effect):
            self = AdvancedCommerceEvidence(row: row, records: records, subject: subject).ofSubscription(effect)
        case .advancedCommerceTransaction:
            self = AdvancedCommerceEvidence(row: row, records: records, subject: subject).ofTransaction
        case .externalPurchaseReport, .retentionList, .defaultMessage, .realtimeURL:
            self = .undecided("this kind of answer has no signed records")
        case .seatClaims:
            let isAssigned = records.seatClaims.contains { $0.lowercased() == subject }
            self =
                isAssigned
                ? .notApplied("assignedSeatClaimIds of Get Seat Info has the claim")
                : .applied("assignedSeatClaimIds of Get Seat Info does not have the claim")
        }
    }

    /// What an answer without records says about a row; `nil` for an answer that says nothing.
    init?(of row: LeasedRow, inUnsignedAnswer written: WriteAnswer, _ readBack: ActionReadBack) {
        let evidence: Evidence? =
            switch readBack {
            case .externalPurchaseReport: ReportEvidence(of: row, in: written)?.found
            case .retentionList, .defaultMessage, .realtimeURL:
                RetentionEvidence(row: row.parameters, answer: written).found(in: readBack)
            default: nil
            }
        guard let evidence else { return nil }
        self = evidence
    }

    /// The subscription's transaction that expires last.
    private static func last(of subject: String, in transactions: [VerifiedTransaction]) -> VerifiedTransaction? {
        transactions.filter { $0.originalTransactionId == subject }
            .max { ($0.expiresDate?.rawValue ?? 0) < ($1.expiresDate?.rawValue ?? 0) }
    }

    /// What is kept with a row that signed data shows as applied.
    ///
    /// The next plan needs the date: the ledger has it only after a crawl.
    static func kept(
        of row: LeasedRow,
        in records: SignedRecords,
        _ readBack: ActionReadBack,
        subject: String
    ) -> JSONObject? {
        guard readBack == .expiresDate, let expires = last(of: subject, in: records.transactions)?.expiresDate else {
            return nil
        }
        let date = JSONValue.number(JSONNumber(text: String(expires.rawValue)))
        return JSONObject((row.answer?.members ?? []) + [JSONObject.Member(key: "expiresDate", value: date)])
    }

    private static func extensionEvidence(
        _ row: LeasedRow,
        _ last: VerifiedTransaction,
        _ expires: UnixMilliseconds
    ) -> Evidence {
        let place = "expiresDate \(expires.iso8601) of transaction \(last.transactionId)"
        // The date that Apple's answer to the repeated request names, or a later one after a renewal.
        if let effective = row.answer?["effectiveDate"]?.number?.int64 {
            return expires.rawValue >= effective ? .applied(place) : .undecided("\(place) is before effectiveDate")
        }
        guard let before = row.expiresDateBefore, let days = row.parameters.integer("extend_by_days"),
            last.transactionId == row.transactionIDBefore
        else { return .undecided("\(place); the subscription has another last transaction than the plan knew") }
        let added = expires - before
        if (added - .seconds(days * 86_400)).magnitude <= tolerance { return .applied(place) }
        if added == .zero { return .notApplied("\(place) is unchanged") }
        return .undecided("\(place) is neither unchanged nor \(days) days later")
    }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}

extension LeasedRow {
    /// The ID with which data is read back.
    func id(for readBack: ActionReadBack, subject: String) -> String {
        switch readBack {
        case .appAccountToken: currentTransactionID(subject)
        case .externalPurchaseReport: UUIDText.text(of: requestID)
        case .seatClaims: parameters.text("original_transaction_id") ?? subject
        default: subject
        }
    }

    /// The last transaction of the purchase, as far as the plan knew it.
    func currentTransactionID(_ subject: String) -> String { transactionIDBefore ?? subject }
}
