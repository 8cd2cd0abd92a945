/// The retention messages of an app: images, messages, defaults, the real-time URL and its performance tests.
struct RetentionStore: Sendable {
    enum State: String, Sendable {
        case pending = "PENDING"
        case approved = "APPROVED"
        case rejected = "REJECTED"
    }

    /// An image or a message.
    struct Upload: Sendable {
        var state: State
        /// After how many further lists the review ends.
        var remainingLists: Int
        /// Of an image: FULL_SIZE or BULLET_POINT.
        var size: String?
        /// Of a message: the identifiers of its images.
        var images: [String] = []
    }

    struct PerformanceTest: Sendable {
        var remainingRequests: Int
        let realtimeURL: String
    }

    /// By identifier in lower case.
    var images: [String: Upload] = [:]
    var messages: [String: Upload] = [:]
    /// The identifiers of messages by product and locale, separated by a slash.
    var defaults: [String: String] = [:]
    var realtimeURL: String?
    /// By request identifier.
    var tests: [String: PerformanceTest] = [:]

    /// Apple's limit of images, and of messages, of an app.
    static let most = 2_000

    /// The state of a new upload.
    ///
    /// The sandbox approves at once. In production the review ends after `lists` requests for the list; one of an identifier that ends in
    /// ``rejectedSuffix`` then says REJECTED.
    static func upload(_ id: String, lists: Int, inSandbox isSandbox: Bool) -> Upload {
        var upload = Upload(state: isSandbox ? .approved : .pending, remainingLists: lists)
        if !isSandbox, lists == 0 { upload.state = decision(on: id) }
        return upload
    }

    static let rejectedSuffix = "0bad"

    private static func decision(on id: String) -> State { id.hasSuffix(rejectedSuffix) ? .rejected : .approved }

    /// Goes on with the review of all uploads of a list.
    ///
    /// - Returns: Whether something changed.
    static func review(_ uploads: inout [String: Upload]) -> Bool {
        var isChanged = false
        for (id, upload) in uploads where upload.state == .pending {
            isChanged = true
            uploads[id]?.remainingLists -= 1
            if upload.remainingLists <= 1 { uploads[id]?.state = decision(on: id) }
        }
        return isChanged
    }
}
