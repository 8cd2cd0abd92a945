import SignedData
import Synchronization

/// Every page that was served: the judge of what a client must have kept once it has moved on.
final class PageLog: Sendable {
    struct Served: Sendable {
        let page: HistoryPage
        /// The cursor it gave.
        let next: String
        /// By place on the page, the JWS that are not as they should be.
        let replacements: [Int: [UInt8]]
    }

    private struct State {
        var pages: [Served] = []
        var forgotten = 0
    }

    private let state = Mutex(State())
    /// The oldest are forgotten beyond this; their numbers go on.
    private static let most = 20_000

    func note(_ served: Served) {
        state.withLock { state in
            if state.pages.count == Self.most {
                state.pages.removeFirst(Self.most / 2)
                state.forgotten += Self.most / 2
            }
            state.pages.append(served)
        }
    }

    /// Pages from a number on, counted from 0, one JSON object a line.
    ///
    /// `{"asked": cursor, "next": cursor, "hasMore": …, "records": [{"kind": …, "key": …, "signedDate": …, "changed": …, "bad": …}]}`,
    /// where `changed` is ``PageItem/changedDate`` and `bad` the SHA-256 of a JWS that must not be believed.
    func jsonLines(since number: Int) -> [UInt8] {
        let pages = state.withLock { $0.pages.dropFirst(max(0, number - $0.forgotten)) }
        return pages.flatMap { $0.json + [UInt8(ascii: "\n")] }
    }
}

extension PageLog.Served {
    fileprivate var json: [UInt8] {
        jsonObject {
            $0.member("asked", page.asked)
            $0.member("next", next)
            $0.member("hasMore", page.hasMore)
            $0.member("records", objects: page.items.indices.map(record))
        }
    }

    private var kind: String {
        if page.cursorName == HistoryPage.token { return "notification" }
        return page.namesApp ? "transaction" : "refund"
    }

    private func record(_ place: Int) -> [UInt8] {
        let item = page.items[place]
        return jsonObject {
            $0.member("kind", kind)
            $0.member("key", item.key)
            $0.member("signedDate", item.signedDate)
            $0.member("changed", item.changedDate)
            $0.member("bad", replacements[place].map { SHA256.digest(of: $0).hexadecimal })
        }
    }
}
