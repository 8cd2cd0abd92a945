import Basics
import Hashing
import Synchronization

/// Every answer with records that was served.
///
/// Tests use it to check what a client must have stored.
final class AnswerLog: Sendable {
    struct Served: Sendable {
        let answer: SimulatedAnswer
        /// The cursor of the next page, as in the answer; `nil` when the answer is not a page.
        let next: String?
        /// By index, the JWS of the records that a fault signed.
        let replacements: [Int: String]
    }

    private struct State {
        var answers: [Served] = []
        var removed = 0
    }

    private let state = Mutex(State())
    /// With more answers the older half is removed; the numbers of the others stay the same.
    private static let maximumCount = 20_000

    func record(_ served: Served) {
        state.withLock { state in
            if state.answers.count == Self.maximumCount {
                state.answers.removeFirst(Self.maximumCount / 2)
                state.removed += Self.maximumCount / 2
            }
            state.answers.append(served)
        }
    }

    /// The answers from a number on, counted from 0, one JSON object a line.
    ///
    /// `{"asked": cursor, "next": cursor, "hasMore": …, "records": [{"kind": …, "key": …, "signedDate": …, "changed": …, "bad": …}]}`.
    /// `asked` is the cursor of the request; an answer that is not a page has only `records`. `changed` is
    /// ``AnswerRecord/changedDate``. `bad` is the SHA-256 of a JWS that a client must reject.
    func jsonLines(since number: Int) -> [UInt8] {
        let answers = state.withLock { $0.answers.dropFirst(max(0, number - $0.removed)) }
        return answers.flatMap { $0.json + [UInt8(ascii: "\n")] }
    }
}

extension AnswerLog.Served {
    fileprivate var json: [UInt8] {
        jsonObject {
            $0.member("asked", answer.paging?.requestCursor)
            $0.member("next", next)
            $0.member("hasMore", answer.paging?.hasMore)
            $0.member("records", objects: answer.records.indices.map(record))
        }
    }

    private func record(_ index: Int) -> [UInt8] {
        let record = answer.records[index]
        return jsonObject {
            $0.member("kind", record.kind)
            $0.member("key", record.key)
            $0.member("signedDate", record.signedDate)
            $0.member("changed", record.changedDate)
            $0.member("bad", replacements[index].map { SHA256.digest(of: Array($0.utf8)).hexadecimal })
        }
    }
}
