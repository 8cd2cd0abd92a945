package import AppStoreModel
import StrictJSON

/// Associate Seat: names the member who uses a claimed seat.
///
/// Apple does not document what a repeat means, and no call shows which member a claim is associated with. The request
/// names the claim and the member, so a repeat changes nothing else, and its success settles a lost answer. If Apple
/// refuses the repeat, the outcome stays unknown. Apple documents no limit for this call, so it is the limit of Get
/// Customer Groups. Source: Associate Seat, App Store Server API 1.23, read 2026-11.
package enum AssociateSeat: AppStoreAction {
    package static let name = StreamName("associateSeat")
    package static let requestsPerSecond = 50.0
    package static let isInProduction = false

    package static let columns =
        UnclaimSeat.columns + [
            ActionColumn("app_transaction_id", .transactionID, isRequired: true)
        ]
    package static let subject: String? = "seat_claim_id"
    package static let subjectKind: ActionSubject? = .seat
    package static let ledgerRules = rulesOfSeats + [.knownClaim]

    package static func request(_ row: ActionParameters, id: String) -> AppStoreRequest {
        .post(
            "\(SeatPath.claim(in: row))/associate",
            body: JSONWriter.bytes(.object(.of([("appTransactionId", row["app_transaction_id"]?.json)])))
        )
    }
}
