import ActionKinds
import AppStoreAPI
import AppStoreModel

/// What Apple has of the image, message, default or real-time URL that a row changes.
///
/// Source: Get Image List, Get Message List, Get Default Message, Get Realtime URL, Retention Messaging API 1.5, read 2026-11.
struct RetentionEvidence {
    let row: ActionParameters
    let answer: WriteAnswer

    /// - Returns: `nil` for an answer that says nothing about the row.
    func found(in readBack: ActionReadBack) -> Evidence? {
        switch readBack {
        case .retentionList(let list): answer.answer.status == 200 ? found(in: list) : nil
        case .defaultMessage:
            found(
                // A row that deletes the default wants none.
                wanted: PublishRetentionMessages.kind(of: row) == .defaultMessage ? row.text("message_id") : nil,
                "the default message",
                missing: .defaultMessageNotFound,
                read: RetentionDefault.message
            )
        case .realtimeURL:
            found(
                wanted: row.text("realtime_url"),
                "the real-time URL",
                missing: .realtimeURLNotFound,
                read: RealtimeURL.url
            )
        default: nil
        }
    }

    private func found(in list: RetentionList) -> Evidence? {
        guard let entries = RetentionCatalog.entries(answer.body, of: list) else { return nil }
        let id = list.id(in: row)
        let isListed = entries[id] != nil
        let sentence = "Apple's list of \(list.rawValue) \(isListed ? "has" : "does not have") \(id)"
        if PublishRetentionMessages.list(of: row) == list { return isListed ? .inReview(list) : .notApplied(sentence) }
        return isListed ? .notApplied(sentence) : .applied(sentence)
    }

    /// - Parameters:
    ///   - wanted: What the row sets; `nil` if it deletes.
    ///   - missing: Apple's error if it has none.
    ///   - read: Reads the body of a 200 answer.
    private func found(
        wanted: String?,
        _ noun: String,
        missing: AppleErrorCode,
        read: ([UInt8]) -> String?
    ) -> Evidence? {
        if answer.answer.status == missing.status, answer.answer.errorCode == missing.rawValue {
            return wanted == nil ? .applied("Apple does not have \(noun)") : .notApplied("Apple does not have \(noun)")
        }
        guard answer.answer.status == 200, let held = read(answer.body) else { return nil }
        let sentence = "\(noun) at Apple is \(held)"
        return held == wanted ? .applied(sentence) : .notApplied(sentence)
    }
}
