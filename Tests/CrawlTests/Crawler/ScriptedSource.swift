import AppStoreModel
import Crawl
import Streams
import Synchronization

/// Answers each request for an item with the next line of its script, and records the requests.
final class ScriptedSource: PageSource {
    enum Answer: Sendable {
        case page([String], cursor: String?, hasMore: Bool, date: String? = nil)
        case failure(RequestFailure)
    }

    private struct State {
        var scripts: [String: [Answer]]
        var asked: [String: [String?]] = [:]
        var environments: [String: [AppStoreEnvironment?]] = [:]
        var onNewConnections: [String: Int] = [:]
        var underWay = 0
        var mostUnderWay = 0
        var keyChecks = 0
    }

    private let state: Mutex<State>
    private let keyIsAccepted: Bool

    /// - Parameters:
    ///   - scripts: By item key; an item whose script has run out gets an empty last page.
    ///   - keyIsAccepted: The result of each check of the key.
    init(_ scripts: [String: [Answer]] = [:], keyIsAccepted: Bool = false) {
        self.keyIsAccepted = keyIsAccepted
        state = Mutex(State(scripts: scripts))
    }

    func cursors(of key: String) -> [String?] { state.withLock { $0.asked[key] ?? [] } }
    func environments(of key: String) -> [AppStoreEnvironment?] { state.withLock { $0.environments[key] ?? [] } }
    /// How many requests for the item had to have a new connection.
    func onNewConnections(of key: String) -> Int { state.withLock { $0.onNewConnections[key] ?? 0 } }
    var mostUnderWay: Int { state.withLock(\.mostUnderWay) }
    var keyChecks: Int { state.withLock(\.keyChecks) }

    func page(of item: WorkItem, departingBy departure: Duration, onNewConnection: Bool) async throws -> Page {
        let answer = state.withLock { state in
            state.asked[item.key, default: []].append(item.cursor)
            if onNewConnection { state.onNewConnections[item.key, default: 0] += 1 }
            state.environments[item.key, default: []].append(item.otherEnvironment)
            state.underWay += 1
            state.mostUnderWay = max(state.mostUnderWay, state.underWay)
            var script = state.scripts[item.key] ?? []
            let answer = script.isEmpty ? .page([], cursor: "end", hasMore: false) : script.removeFirst()
            state.scripts[item.key] = script
            return answer
        }
        await Task.yield()
        state.withLock { $0.underWay -= 1 }
        switch answer {
        case .page(let records, let cursor, let hasMore, let date):
            return Page(records: records.map { .transaction(jws: $0) }, cursor: cursor, hasMore: hasMore, date: date)
        case .failure(let failure):
            throw failure
        }
    }

    func acceptsKey() async -> Bool {
        state.withLock { $0.keyChecks += 1 }
        return keyIsAccepted
    }
}

extension ScriptedSource.Answer {
    static func apple(_ status: Int, _ code: Int64? = nil, retryAfter: [String] = []) -> Self {
        .failure(.answered(HTTPAnswer(status: status, errorCode: code, message: "as scripted", retryAfter: retryAfter)))
    }

    /// A 401 after `duration` of nothing but 401.
    static func refused(for duration: Duration, keyWasAccepted: Bool = false) -> Self {
        var answer = HTTPAnswer(status: 401, errorCode: nil, message: "")
        answer.refusals = TokenRefusals(duration: duration, keyWasAccepted: keyWasAccepted)
        return .failure(.answered(answer))
    }
}
