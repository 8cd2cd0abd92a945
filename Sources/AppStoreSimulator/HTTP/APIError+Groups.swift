/// The errors of groups and seats.
extension APIError {
    static let limit = APIError(4_000_004, "Invalid limit.")
    static let groupId = APIError(4_000_225, "Invalid group id.")
    static let groupNotFound = APIError(4_040_022, "Group not found.")

    // Apple documents the errors of App Store Server API 1.23 without HTTP status and number. The simulator answers
    // with the general number of a bad request, so that no client relies on an invented one; the message tells them
    // apart.
    static let notDeveloperManagedGroup = APIError(
        4_000_000,
        "TransactionNotDevManagedGroup: the developer does not manage the group of the transaction."
    )
    static let noAvailableSeats = APIError(4_000_000, "NoAvailableSeats: no seat is available.")
    static let seatClaimIdNotFound = APIError(4_000_000, "SeatClaimIdNotFound: the seat claim id is not found.")
    static let appTransactionIdNotFound = APIError(
        4_000_000,
        "AppTransactionIdNotFound: the app transaction id is not found."
    )
}
