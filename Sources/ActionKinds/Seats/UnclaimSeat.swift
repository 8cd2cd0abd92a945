package import AppStoreModel

/// Unclaim Seat: takes a seat back from the member who has it.
///
/// Apple does not document what a repeat means, so Get Seat Info shows whether the claim is gone. Apple documents no
/// limit for this call, so it is the limit of Get Customer Groups. Source: Unclaim Seat, App Store Server API 1.23,
/// read 2026-11.
package enum UnclaimSeat: AppStoreAction {
    package static let name = StreamName("unclaimSeat")
    package static let requestsPerSecond = 50.0
    package static let isInProduction = false

    package static let columns = [
        ActionColumn("original_transaction_id", .transactionID, isRequired: true),
        ActionColumn("seat_claim_id", .uuid, isRequired: true),
    ]
    package static let subject: String? = "seat_claim_id"
    package static let subjectKind: ActionSubject? = .seat
    package static let ledgerRules = rulesOfSeats + [.knownClaim]
    package static let readBack: ActionReadBack? = .seatClaims

    package static func request(_ row: ActionParameters, id: String) -> AppStoreRequest {
        .delete(SeatPath.claim(in: row))
    }
}
