/// One thing to do wrong, and to which requests.
///
/// As JSON, `{"endpoint": "refundHistory", "everyNth": 10, "fault": "status", "status": 500}`. Every member but `fault`
/// is optional. A rule counts the requests its `endpoint` and `transactionId` match, from 1, and strikes at number
/// `atRequest`, or at every `everyNth`, or at all of them; `times` bounds how often in all. The first rule that strikes decides.
struct FaultRule: Codable, Sendable, Equatable {
    enum Fault: String, Codable, CaseIterable, Sendable {
        /// 429; `retryAfter` lists the values of `Retry-After` headers, as raw text.
        case rateLimited
        /// `status`, with `body` as it is, or `errorCode` and `errorMessage` as Apple writes them.
        case status
        /// Closes the connection without an answer.
        case dropConnection
        /// Announces the whole page, sends its first `bytes` bytes, closes.
        case truncateBody
        /// Sends the page at `bytesPerSecond`.
        case slow
        /// Waits `milliseconds`, then answers as if nothing were wrong.
        case delay
        /// 200 with `body`, or with something that is not JSON.
        case garbageBody
        /// Every record signed by a key that is not the leaf's.
        case forgeSignature
        /// Every record of another app, properly signed.
        case wrongBundle
        /// Every record signed with a leaf that had expired by then.
        case expiredLeaf
        /// Every payload with one member written twice, properly signed.
        case duplicateKey
        /// The page, with the cursor it was asked with and more to come: no progress.
        case repeatPage
        /// No records, a new cursor for the same place, and more to come.
        case emptyPages
        /// The cursor is too old (4000017; for the GET endpoints 4000005), when the request has one.
        case expireToken
    }

    var endpoint: String?
    var transactionId: String?
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
    /// Of a page signed wrongly: only one record in so many, always the same ones; without it, all.
    var oneIn: Int?
}
