/// One fault, and the requests it applies to.
///
/// As JSON, `{"endpoint": "refundHistory", "everyNth": 10, "fault": "status", "status": 500}`. Every member except `fault`
/// is optional. A rule counts the requests that its `endpoint`, `transactionId` and `orderId` match, from 1. It applies to
/// request number `atRequest`, or to every `everyNth`, or to all of them, and at most `times` times. Of several rules that
/// apply to a request, the first one decides.
struct FaultRule: Codable, Sendable, Equatable {
    enum Fault: String, Codable, CaseIterable, Sendable {
        /// 429. `retryAfter` lists the values of the `Retry-After` headers, as raw text.
        case rateLimited
        /// The HTTP status `status`, with `body` unchanged, or with `errorCode` and `errorMessage` in Apple's format.
        case status
        /// 401 without a body, to every request for `milliseconds` from the first one that the rule applies to.
        ///
        /// Without `milliseconds`, to the requests that the rule applies to.
        case refuseToken
        /// 401 without a body, until `milliseconds` have passed since the first request with the same token.
        case refuseNewToken
        /// Closes the connection without an answer.
        case dropConnection
        /// Announces the length of the whole answer, sends its first `bytes` bytes and closes the connection.
        case truncateBody
        /// Sends the answer at `bytesPerSecond`.
        case slow
        /// Waits `milliseconds`, then answers normally.
        case delay
        /// 200 with `body`, or with text that is not JSON.
        case garbageBody
        /// Signs every record with a key that does not belong to the leaf certificate.
        case forgeSignature
        /// Signs every record correctly, but for another app.
        case wrongBundle
        /// Signs every record with a leaf certificate that had expired at that time.
        case expiredLeaf
        /// Signs every payload correctly, with one member written twice.
        case duplicateKey
        /// Signs every transaction without `price` and `currency`, also those in notifications and statuses.
        case omitPrice
        /// Gives every transaction of a subscription a second transaction ID, the next number; everything else stays the same.
        ///
        /// A notification keeps the first ID.
        case secondTransactionId
        /// The page with the request's own cursor and more to come, so that the client makes no progress.
        case repeatPage
        /// A page without records, with a new cursor for the same position and more to come.
        case emptyPages
        /// The error for a cursor that is too old (4000017; for the GET endpoints 4000005), when the request has a cursor.
        case expireToken
        /// Handles the request, and changes the world if the request does, then closes the connection without an answer.
        case applyThenDrop
        /// Handles the request, and changes the world if the request does, then answers with `status` as the fault `status` does.
        case applyThenStatus
        /// Refuses a request whose request identifier was applied before, with 4030005 or `errorCode`.
        ///
        /// Without this fault the repeat of an extension gets the first answer once more. Apple does not document which of the
        /// two it does.
        case refuseRepeat
    }

    var endpoint: String?
    var transactionId: String?
    var orderId: String?
    var everyNth: Int?
    var atRequest: Int?
    var times: Int?
    var fault: Fault
    var retryAfter: [String]?
    var status: Int?
    var errorCode: Int64?
    var errorMessage: String?
    var body: String?
    var bytes: Int?
    var bytesPerSecond: Int?
    var milliseconds: Int?
    /// For the faults about records: only one record in this many, always the same ones; without it, all records.
    var oneIn: Int?
}
