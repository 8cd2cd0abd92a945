import AppStoreModel

/// The paths of the calls for seats.
enum SeatPath {
    /// - Parameter id: An original transaction ID.
    static func seats(of id: String) -> String { "/groups/v1/transactions/\(id.percentEncoded)/seats" }

    /// The path of the seat claim in a row.
    static func claim(in row: ActionParameters) -> String {
        let claim = row.text("seat_claim_id") ?? ""
        return "\(seats(of: row.text("original_transaction_id") ?? ""))/\(claim.percentEncoded)"
    }
}

/// The rules of every action that changes seats, as far as the ledger knows.
///
/// Apple also refuses a bundle's transaction, but does not document by which field a server recognises a bundle.
let rulesOfSeats: [LedgerRule] = [.inLedger, .subscription, .notRevoked, .developerManaged, .active]
