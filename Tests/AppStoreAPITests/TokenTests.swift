import AppStoreAPI
import AppStoreModel
import Dispatch
import Synchronization
import Testing

/// How long one bearer token serves, and what ends it.
///
/// Signatures are random, so two tokens are never equal.
@Suite(.timeLimit(.minutes(15)))
struct TokenTests {

    @Test
    func `a token is used again for fifteen minutes`() async throws {
        let apple = try ScriptedApple { _ in answer(200, emptyPage) }
        let clock = TestClock()
        try await withClient(of: apple, clock: clock) { client in
            for pause in [Duration.zero, .seconds(15 * 60 - 1)] {
                clock.advance(by: pause)
                _ = try await client.somePage()
            }
            #expect(apple.tokens.count == 1)
            clock.advance(by: .seconds(1))
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
    func `renewing a token that was not refused changes nothing`() async throws {
        let apple = try ScriptedApple { _ in answer(200, emptyPage) }
        try await withClient(of: apple) { client in
            for _ in 1...2 {
                _ = try await client.somePage()
                client.renewToken()
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
        try await withClient(of: apple) { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...30 {
                    group.addTask {
                        do {
                            _ = try await client.somePage()
                        } catch RequestFailure.answered(let answer) where answer.status == 401 {
                            client.renewToken()
                            _ = try await client.somePage()
                        }
                    }
                }
                try await group.waitForAll()
            }
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
        try await withClient(of: apple) { client in
            let late = Task { try await client.somePage(revision: "late") }
            for await _ in firstIsUnderWay.stream {}
            await #expect(throws: RequestFailure.self) { try await client.somePage(revision: "refused") }
            client.renewToken()
            _ = try await client.somePage()
            release.signal()
            await #expect(throws: RequestFailure.self) { try await late.value }
            client.renewToken()
            _ = try await client.somePage()
        }
        #expect(apple.tokens.count == 2)
    }
}
