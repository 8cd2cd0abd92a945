package import AppStoreModel
import Basics
import StrictJSON

/// Claim Seat: takes a seat of a subscription for a member, who can be named now or with ``AssociateSeat``.
///
/// The same `requestIdentifier` gives the same `seatClaimId` and no second seat, so a repeat settles a lost answer. A
/// row without `app_transaction_id` never repeats another row: a subscription has many seats. Apple documents no limit
/// for this call, so it is the limit of Get Customer Groups. Source: Claim Seat, ClaimSeatRequest, App Store Server API
/// 1.23, read 2026-11.
package enum ClaimSeat: AppStoreAction {
    package static let name = StreamName("claimSeat")
    package static let requestsPerSecond = 50.0
    package static let isInProduction = false

    package static let columns = [
        ActionColumn("original_transaction_id", .transactionID, isRequired: true),
        ActionColumn("app_transaction_id", .transactionID),
    ]
    package static let subject: String? = "app_transaction_id"
    package static let subjectKind: ActionSubject? = .seat
    package static let ledgerRules = rulesOfSeats + [.freeSeat]
    package static let resultColumns = [(column: "seat_claim_id", member: "seatClaimId")]

    package static func subject(of row: ActionParameters) -> String? {
        row.text("app_transaction_id").map { "\(row.text("original_transaction_id") ?? "") \($0)" }
    }

    package static func request(_ row: ActionParameters, id: String) -> AppStoreRequest {
        let body = JSONObject.of([
            ("requestIdentifier", .string(id)),
            ("appTransactionId", row["app_transaction_id"]?.json),
        ])
        return .post(
            SeatPath.seats(of: row.text("original_transaction_id") ?? ""),
            body: JSONWriter.bytes(.object(body))
        )
    }

    package static func outcome(_ body: [UInt8]) throws(RequestFailure) -> ActionOutcome {
        guard let answer = try? StrictJSON.parseObject(body), let id = answer["seatClaimId"]?.string,
            UUIDText.bytes(of: id) != nil
        else { throw .badPage(reason: "the answer has no seatClaimId; it must be a UUID") }
        return .succeeded(.of([("seatClaimId", .string(id))]))
    }
}
