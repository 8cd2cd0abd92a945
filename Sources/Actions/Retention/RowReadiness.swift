import ActionKinds

/// Whether a row of retention messages can be sent now.
enum RowReadiness: Equatable {
    case ready
    /// Something that it needs has no outcome yet; the sentence says what.
    case waits(String, inReview: Bool)
    /// A later run has to find out something that it needs first.
    case isLeft(String)
    /// Something that it needs failed, so it is not sent.
    case fails(String)

    /// A row of the same batch that the row waits for.
    struct Prerequisite: Equatable {
        let subject: String
        let state: RowState
        /// Whether Apple has accepted the upload, which it may still review.
        let isAccepted: Bool
        let reason: String
        let hasEnded: Bool
        /// Whether only the next run continues with it.
        let isLeft: Bool
    }

    /// - Parameters:
    ///   - rows: What the row waits for in its batch.
    ///   - needsApproval: Whether an image must have passed Apple's review; a message only needs its images to be uploaded.
    init(after rows: [Prerequisite], needsApproval: Bool) {
        for row in rows where row.hasEnded && row.state != .succeeded {
            self = .fails("\(row.subject) is \(row.state.rawValue): \(row.reason)")
            return
        }
        let open = rows.filter { !$0.hasEnded && (needsApproval || !$0.isAccepted) }
        if let left = open.first(where: \.isLeft) {
            self = .isLeft("waits for \(left.subject), whose outcome is not known")
        } else if let first = open.first {
            self = .waits("waits for \(first.subject)", inReview: open.allSatisfy(\.isAccepted))
        } else {
            self = .ready
        }
    }

    /// - Parameters:
    ///   - subject: An image or a message that no row of the batch uploads.
    ///   - state: Its state at Apple; `nil` if Apple does not have it.
    ///   - needsApproval: See ``init(after:needsApproval:)``.
    init(of subject: String, state: String?, needsApproval: Bool) {
        switch state {
        case nil: self = .fails("Apple does not have \(subject)")
        case "REJECTED"?: self = .fails("Apple has rejected \(subject) in its review")
        case "APPROVED"?: self = .ready
        case let state?:
            self = needsApproval ? .waits("waits for \(subject), which is \(state)", inReview: true) : .ready
        }
    }
}
