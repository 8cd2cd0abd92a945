import AppStoreModel
import Streams
import StrictJSON
import Testing

@testable import AppStoreSimulator

/// Delivery attempts that come with time, and notifications that enter the history late.
struct LateNotificationTests {
    /// One notification as an answer has it.
    private struct Listed: Equatable {
        let uuid: String
        let date: Int64
        let attempts: [SendAttempt]

        var isDelivered: Bool { attempts.last?.result == "SUCCESS" }
    }

    private func listed(_ store: TestStore, _ body: String, from token: String? = nil) async throws -> [Listed] {
        try listed(store, try await store.notificationPages(body, from: token))
    }

    private func listed(_ store: TestStore, _ pages: [Page]) throws -> [Listed] {
        let payloads = try store.payloads(pages)
        return zip(payloads, pages.flatMap(\.records)).map { payload, record in
            var attempts: [SendAttempt] = []
            if case .notification(_, let elements) = record {
                attempts = elements.compactMap(\.value.object).map {
                    SendAttempt(date: $0.moment("attemptDate") ?? 0, result: $0["sendAttemptResult"]?.string ?? "")
                }
            }
            return Listed(
                uuid: payload["notificationUUID"]?.string ?? "",
                date: payload.moment("signedDate") ?? 0,
                attempts: attempts
            )
        }
    }

    private func window(_ store: TestStore, from start: Int64, filter: String = "") -> String {
        "{\"startDate\":\(start),\"endDate\":\(store.clock.now.rawValue)\(filter)}"
    }

    @Test func `an answer lists the attempts made until then, and all of them 157 hours after the first`() async throws
    {
        try await TestStore.run(customers: 10) { store in
            let start = store.clock.now.rawValue - 600_000
            _ = try await store.post("/simulator/advance", body: "{\"changes\":100}")
            let body = window(store, from: start)
            var last = try await listed(store, body)
            #expect(last.count == 100 && last.allSatisfy { $0.attempts.count == 1 })
            var delivered: [Int] = []
            // A minute has passed already.
            for hours in [0, 1, 12, 24, 48, 72, 1_000] {
                store.clock.advance(by: .seconds(hours * 3_600))
                let now = try await listed(store, body)
                for (earlier, later) in zip(last, now) {
                    #expect(Array(later.attempts.prefix(earlier.attempts.count)) == earlier.attempts)
                    #expect(later.attempts.allSatisfy { $0.date <= store.clock.now.rawValue })
                    #expect(later.attempts.dropLast().allSatisfy { $0.result != "SUCCESS" })
                    #expect(!earlier.isDelivered || later == earlier)
                }
                let failures = try await listed(store, body.replacing("}", with: ",\"onlyFailures\":true}"))
                #expect(failures == now.filter { !$0.isDelivered })
                delivered.append(now.count(where: \.isDelivered))
                last = now
            }
            // Some more after each pause, and nothing after the last.
            #expect(zip(delivered.dropLast(), delivered.dropFirst()).prefix(5).allSatisfy { $0 < $1 }, "\(delivered)")
            #expect(delivered[5] == delivered[6] && delivered[6] < 100)
            #expect(last.allSatisfy { $0.isDelivered || $0.attempts.count == 6 })
            try await expectSame(last, in: store)
        }
    }

    /// What the world's list says of the same notifications.
    private func expectSame(_ found: [Listed], in store: TestStore) async throws {
        let world = try await store.listed("notification")
        for notification in found {
            let attempts = world[notification.uuid]?["sendAttempts"]?.array?.compactMap(\.object) ?? []
            #expect(attempts.compactMap { $0.moment("attemptDate") } == notification.attempts.map(\.date))
        }
    }

    @Test func `a late notification is in no answer before its moment, and in every answer from then on`() async throws
    {
        try await TestStore.run(customers: 10, configure: { $0.lateNotifications = 4 }) { store in
            let start = store.clock.now.rawValue - 600_000
            _ = try await store.post("/simulator/advance", body: "{\"changes\":80}")
            let body = window(store, from: start)
            let early = try await listed(store, body)
            #expect(early.count > 40 && early.count < 75)
            #expect(try await Set(store.listed("notification").keys).isSuperset(of: early.map(\.uuid)))
            #expect(
                try await !store.listed("notification").values.contains { line in
                    line.moment("visibleFrom") ?? .max > store.clock.now.rawValue
                }
            )
            store.clock.advance(by: .seconds(65 * 60))
            #expect(try await listed(store, body).map(\.uuid) == early.map(\.uuid))

            store.clock.advance(by: .seconds(180 * 60))
            let all = try await listed(store, body)
            let lines = try await store.listed("notification")
            #expect(all.count == 80 && all.map(\.date) == all.map(\.date).sorted())
            let known = Set(early.map(\.uuid))
            for notification in all {
                let visible = try #require(lines[notification.uuid]?.moment("visibleFrom"))
                let delay = visible - notification.date
                let isLate = !known.contains(notification.uuid)
                #expect(isLate ? (66 * 60_000...180 * 60_000).contains(delay) : delay == 0)
            }
        }
    }

    @Test func `a late notification enters the history at its moment to the millisecond`() async throws {
        try await TestStore.run(customers: 4, configure: { $0.lateNotifications = 1 }) { store in
            let start = store.clock.now.rawValue - 600_000
            _ = try await store.post("/simulator/advance", body: "{\"changes\":1}")
            let body = window(store, from: start)
            #expect(try await listed(store, body) == [])
            let before = try await store.listed("notification")
            store.clock.advance(by: .seconds(200 * 60))
            let all = try await store.listed("notification")
            let line = try #require(all.first { before[$0.key] == nil })
            let visible = try #require(line.value.moment("visibleFrom"))
            store.clock.advance(by: .milliseconds(visible - store.clock.now.rawValue - 1))
            #expect(try await listed(store, body) == [])
            store.clock.advance(by: .milliseconds(1))
            #expect(try await listed(store, body).map(\.uuid) == [line.key])
        }
    }

    @Test func `late notifications that arrive between two pages neither repeat nor hide another one`() async throws {
        try await TestStore.run(customers: 10, configure: { $0.lateNotifications = 4 }) { store in
            let start = store.clock.now.rawValue - 600_000
            _ = try await store.post("/simulator/advance", body: "{\"changes\":110}")
            let body = window(store, from: start)
            let known = try await listed(store, body).map(\.uuid)
            var walked: [Page] = []
            var token: String?
            repeat {
                let query = token.map { [("paginationToken", $0)] } ?? []
                let answer = try await store.post(TestStore.notifications, query, body: body)
                walked.append(try NotificationHistory.page(answer.body))
                token = walked.last?.cursor
                // After the third page all of them are there, also behind the cursor.
                store.clock.advance(by: .seconds(61 * 60))
            } while walked.last?.hasMore == true
            let found = try listed(store, walked)
            #expect(Set(found.map(\.uuid)).count == found.count)
            #expect(found.map(\.date) == found.map(\.date).sorted())
            #expect(Set(found.map(\.uuid)).isSuperset(of: known))
            #expect(found.count > known.count && found.count < 110)
            #expect(try await listed(store, body).count == 110)
        }
    }
}
