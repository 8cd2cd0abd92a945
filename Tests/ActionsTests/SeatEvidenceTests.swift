import ActionKinds
import AppStoreModel
import StrictJSON
import Testing

@testable import Actions

/// What an answer of the calls about seats proves.
struct SeatEvidenceTests {
    private let claim = "7e3fb20b-4cdb-47cc-936d-99d65f608138"

    private func evidence(_ claims: String...) -> Evidence {
        let row = LeasedRow.test([("original_transaction_id", .text("1")), ("seat_claim_id", .text(claim))])
        return Evidence(of: row, in: SignedRecords(seatClaims: claims), .seatClaims, subject: claim)
    }

    @Test func `a claim that Get Seat Info does not have is given back, one that it has is not`() {
        #expect(evidence("other") == .applied("assignedSeatClaimIds of Get Seat Info does not have the claim"))
        #expect(
            evidence("other", claim.uppercased()) == .notApplied("assignedSeatClaimIds of Get Seat Info has the claim")
        )
    }

    @Test func `GS8 an answer to a claim without its ID does not tell the outcome, so the claim is sent again`() throws
    {
        let kept = JSONObject([JSONObject.Member(key: "seatClaimId", value: .string(claim))])
        #expect(try ClaimSeat.outcome(Array("{\"seatClaimId\":\"\(claim)\"}".utf8)) == .succeeded(kept))
        for body in ["{}", "", #"{"seatClaimId":"1"}"#] {
            #expect(throws: RequestFailure.self) { try ClaimSeat.outcome(Array(body.utf8)) }
        }
    }

    @Test func `requests have Apple's paths, and only a claim has the request identifier`() {
        let row = ActionParameters([
            ("original_transaction_id", .text("1")), ("seat_claim_id", .text(claim)),
            ("app_transaction_id", .text("7")),
        ])
        let path = "/groups/v1/transactions/1/seats"
        #expect(UnclaimSeat.request(row, id: "r") == .delete("\(path)/\(claim)"))
        let associated = AssociateSeat.request(row, id: "r")
        #expect(associated == .post("\(path)/\(claim)/associate", body: Array(#"{"appTransactionId":"7"}"#.utf8)))
        let claimed = ClaimSeat.request(row, id: "r")
        let body = #"{"requestIdentifier":"r","appTransactionId":"7"}"#
        #expect(claimed == .post(path, body: Array(body.utf8)))
    }
}
