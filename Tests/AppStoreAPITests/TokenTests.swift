import AppStoreAPI
import AppStoreModel
import Dispatch
import Synchronization
import TestSupport
import Testing

/// How long one bearer token serves, and what ends it.
///
/// Signatures are random, so two tokens are never equal.
struct TokenTests {

    @Test
    func `a token is used again for fifteen minutes`() async throws {
        let apple = try ScriptedApple { _ in answer(200, emptyPage) }
        let time = ManualTime(.byHand)
        try await withClient(of: apple, time: time) { client in
            for pause in [Duration.zero, .seconds(15 * 60 - 1)] {
                time.advance(by: pause)
                _ = try await client.somePage()
            }
            #expect(apple.tokens.count == 1)
            time.advance(by: .seconds(1))
            _ = try await client.somePage()
        }
        #expect(apple.tokens.count == 2)
    }

    @Test
    func `requests that begin at once share one token`() async throws {
        let apple = try ScriptedApple { _ in answer(200, emptyPage) }
        try await withClient(of: apple) { client in
            try await withThrowingTaskGroup(of: Page.self) { group in
                for _ in 1...30 { group.addTask { try await client.somePage() } }
                try await group.waitForAll()
            }
        }
        #expect(apple.requests.count == 30)
        #expect(apple.tokens.count == 1)
    }

    @Test
    func `a refused token is sent once more after a pause, and only then replaced`() async throws {
        let apple = try ScriptedApple { _ in answer(401, "") }
        let time = ManualTime(.automatic)
        try await withClient(of: apple, time: time) { client in
            for pause in [Duration.zero, .milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(8)] {
                time.advance(by: pause)
                await #expect(throws: RequestFailure.self) { try await client.somePage() }
            }
        }
        let sent = apple.requests.compactMap { $0.header("Authorization") }
        #expect(sent[0] == sent[1] && sent[1] != sent[2])
        #expect(sent[2] == sent[3] && sent[3] != sent[4])
        #expect(apple.tokens.count == 3)
    }

    @Test
    func `an answer other than 401 ends the series, and a pause for the limit adds little to it`() async throws {
        let refuses = Mutex(true)
        let apple = try ScriptedApple { _ in refuses.withLock { $0 } ? answer(401, "") : answer(200, emptyPage) }
        let time = ManualTime(.automatic)
        try await withClient(of: apple, time: time) { client in
            var found: [TokenRefusals] = []
            func ask(after pause: Duration) async throws {
                time.advance(by: pause)
                do {
                    _ = try await client.somePage()
                } catch RequestFailure.answered(let answer) {
                    found.append(answer.refusals)
                }
            }
            try await ask(after: .zero)
            try await ask(after: .seconds(8))
            try await ask(after: .seconds(1_800))
            refuses.withLock { $0 = false }
            try await ask(after: .seconds(8))
            refuses.withLock { $0 = true }
            try await ask(after: .seconds(8))
            #expect(
                found == [
                    TokenRefusals(), TokenRefusals(duration: .seconds(8)), TokenRefusals(duration: .seconds(23)),
                    TokenRefusals(keyWasAccepted: true),
                ]
            )
        }
    }

    @Test(arguments: [1, 16])
    func `tokens that are valid only 300 ms after they are signed serve every worker`(workers: Int) async throws {
        let time = ManualTime(.byHand)
        let signed = Mutex<[String: Duration]>([:])
        let apple = try ScriptedApple { request in
            let token = request.header("Authorization") ?? ""
            let first = signed.withLock { signed in
                signed[token] = signed[token] ?? time.now
                return signed[token] ?? time.now
            }
            return time.now - first < .milliseconds(300) ? answer(401, "") : answer(200, emptyPage)
        }
        try await withClient(of: apple, time: time) { client in
            // Every worker sends at once, then all pause as the crawler does.
            for refusal in 1...2 {
                let accepted = await withTaskGroup(of: Bool.self) { group in
                    for _ in 1...workers {
                        group.addTask { (try? await client.somePage()) != nil }
                    }
                    return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
                }
                #expect(accepted == (refusal == 1 ? 0 : workers))
                time.advance(by: .milliseconds(500))
            }
        }
        #expect(apple.tokens.count == 1)
    }

    @Test
    func `thirty workers refused at once cost one new token`() async throws {
        let refused = Mutex<String?>(nil)
        let apple = try ScriptedApple { request in
            let token = request.header("Authorization")
            let first = refused.withLock { refused in
                refused = refused ?? token
                return refused
            }
            return token == first ? answer(401, "") : answer(200, emptyPage)
        }
        let time = ManualTime(.byHand)
        try await withClient(of: apple, time: time) { client in
            for pause in [Duration.zero, .milliseconds(500), .seconds(1)] {
                time.advance(by: pause)
                await withTaskGroup(of: Void.self) { group in
                    for _ in 1...30 { group.addTask { _ = try? await client.somePage() } }
                }
            }
            _ = try await client.somePage()
        }
        #expect(apple.tokens.count == 2)
    }

    @Test
    func `a late refusal of an old token leaves the new one alone`() async throws {
        let firstIsUnderWay = AsyncStream.makeStream(of: Void.self)
        let release = DispatchSemaphore(value: 0)
        let apple = try ScriptedApple { request in
            switch request.line {
            case "GET /inApps/v2/refund/lookup/1?revision=late":
                firstIsUnderWay.continuation.finish()
                release.wait()
                return answer(401, "")
            case "GET /inApps/v2/refund/lookup/1?revision=refused": return answer(401, "")
            default: return answer(200, emptyPage)
            }
        }
        let time = ManualTime(.byHand)
        try await withClient(of: apple, time: time) { client in
            let late = Task { try await client.somePage(revision: "late") }
            for await _ in firstIsUnderWay.stream {}
            for _ in 1...2 {
                await #expect(throws: RequestFailure.self) { try await client.somePage(revision: "refused") }
                time.advance(by: .seconds(1))
            }
            _ = try await client.somePage()
            release.signal()
            await #expect(throws: RequestFailure.self) { try await late.value }
            time.advance(by: .seconds(1))
            _ = try await client.somePage()
        }
        #expect(apple.tokens.count == 2)
    }
}
