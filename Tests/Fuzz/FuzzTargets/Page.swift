import AppStoreModel
import Streams
import StrictJSON

extension FuzzTarget {
    /// The body of an answer: a page within its limits, or the one error it may throw.
    ///
    /// The first byte chooses the endpoint.
    static let page = FuzzTarget(name: "page", longestInput: 4_096) { input in
        var reader = InputReader(input)
        let endpoint = reader.byte() % 3
        let body = reader.remaining()
        try checkJSON(body)
        do {
            switch endpoint {
            case 0: try check(TransactionHistory.page(body))
            case 1: try check(RefundHistory.page(body))
            default: try check(NotificationHistory.page(body))
            }
        } catch let error as RequestFailure {
            guard case .badPage = error else {
                throw BrokenPromise(description: "a bad page is reported as \(error)")
            }
        }
    }

    private static func checkJSON(_ body: [UInt8]) throws {
        do {
            let element = try StrictJSON.scan(body)
            let value = element.value
            try checkAgainstFoundation(value, body)
            let written = JSONWriter.bytes(value)
            let again = try? StrictJSON.parse(written)
            try promise(again.map(JSONWriter.bytes) == written, "written and read again it is another value")
            if !element.documentHoldsUnsafeNumber { try promise(again == value, "writing changed the value") }
        } catch let error as StrictJSONError {
            try promise((0...body.count).contains(error.offset), "the mistake is at byte \(error.offset)")
        }
    }

    private static func check(_ page: Page) throws {
        try promise(page.records.count <= PageDecoder.recordLimit, "a page of \(page.records.count) records")
        try promise(!page.hasMore || page.cursor != nil, "more pages, and nothing to ask for them with")
        if let cursor = page.cursor {
            try promise((1...PageDecoder.cursorLimit).contains(cursor.utf8.count), "a cursor no request can carry")
            try promise(!cursor.utf8.contains(0), "a cursor that PostgreSQL cannot store")
        }
        for case .unreadable(let text) in page.records {
            try promise((try? StrictJSON.parse(Array(text.utf8))) != nil, "a rejected record that is no JSON")
        }
    }
}
