import AppStoreModel
import StrictJSON
import Testing

@testable import AppStoreSimulator

struct TestNotificationTests {
    private static let path = "/inApps/v1/notifications/test"

    @Test func `a token identifies its notification, which is not found before it is sent`() async throws {
        try await TestStore.run(customers: 2) { store in
            var tokens: [String] = []
            for _ in 1...2 {
                let answer = try await store.post(Self.path, body: "")
                let token = try #require(try answer.json["testNotificationToken"]?.string)
                #expect(try answer.status == 200 && answer.json.members.count == 1)
                let early = try await store.get("\(Self.path)/\(token)")
                #expect(early.status == 404 && early.errorCode == 4_040_008)
                tokens.append(token)
            }
            #expect(Set(tokens).count == 2)
            store.clock.advance(by: .seconds(10))
            var uuids: Set<String> = []
            for token in tokens {
                let json = try await store.get("\(Self.path)/\(token)").json
                let payload = try store.payload(json["signedPayload"]?.string)
                #expect(payload["notificationType"]?.string == "TEST")
                uuids.insert(payload["notificationUUID"]?.string ?? "")
                let attempts = (json["sendAttempts"]?.array ?? []).compactMap(\.object)
                #expect(attempts.count == 1)
                #expect(attempts.allSatisfy { $0["sendAttemptResult"] != nil && $0.moment("attemptDate") != nil })
            }
            #expect(try await uuids.isSubset(of: Set(store.world("notification").keys)) && uuids.count == 2)
            #expect(try await store.actions.map { $0["requestIdentifier"]?.string } == tokens)
            store.clock.advance(by: .days(183))
            let old = try await store.get("\(Self.path)/\(tokens[0])")
            #expect(old.status == 404 && old.errorCode == 4_040_008)
        }
    }

    @Test func `a token that is malformed or unknown is refused`() async throws {
        try await TestStore.run(customers: 1) { store in
            for token in ["", "abc", "ce3af791-365e-4c60-841b-1674b43c1609", "ce3af791-365e-4c60-841b-1674b43c1609_x"] {
                let answer = try await store.get("\(Self.path)/\(token)")
                #expect(answer.status == 400 && answer.errorCode == 4_000_020)
            }
            let unknown = try await store.get("\(Self.path)/ce3af791-365e-4c60-841b-1674b43c1609_1656709676")
            #expect(unknown.status == 404 && unknown.errorCode == 4_040_008)
            #expect(try await store.post(Self.path, body: "{}").errorCode == 4_000_000)
        }
    }
}
