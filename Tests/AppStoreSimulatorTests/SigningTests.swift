import AppStoreModel
import Hashing
import SignedData
import Streams
import StrictJSON
import Testing

@testable import AppStoreSimulator

/// An answer is signed when it is made.
struct SigningTests {
    @Test(arguments: [true, false])
    func `a transaction requested twice has another signedDate and other bytes, and the same content`(
        ofRefunds: Bool
    ) async throws {
        try await TestStore.run(customers: 3, transactionsPerCustomer: 40) { store in
            func pages() async throws -> [Page] {
                var all: [Page] = []
                for id in try store.ids {
                    all += try await store.pages(
                        ofRefunds ? TestStore.refunds(id) : TestStore.history(id),
                        decode: ofRefunds ? RefundHistory.page : TransactionHistory.page
                    )
                }
                return all
            }
            let first = try await pages()
            let moment = store.clock.now
            store.clock.advance(by: .milliseconds(1))
            let second = try await pages()
            let texts = Set(first.flatMap(\.records).map(\.text))
            #expect(!texts.isEmpty && texts.isDisjoint(with: second.flatMap(\.records).map(\.text)))
            #expect(try store.contents(first) == store.contents(second))
            #expect(try store.payloads(first).allSatisfy { $0.moment("signedDate") == moment.rawValue })
            #expect(try store.payloads(second).allSatisfy { $0.moment("signedDate") == moment.rawValue + 1 })
        }
    }

    @Test func `a faulty answer is signed at its moment too, and the log of answers has that date`() async throws {
        try await TestStore.run(customers: 1, transactionsPerCustomer: 5) { store in
            let rules = #"{"rules":[{"atRequest":2,"fault":"wrongBundle"},{"atRequest":3,"fault":"repeatPage"}]}"#
            _ = try await store.put("/simulator/faults", body: rules)
            var expected: [Int64] = []
            for _ in 1...3 {
                store.clock.advance(by: .seconds(1))
                let answer = try await store.get(TestStore.history(try #require(try store.ids.first)))
                let dates = try store.payloads([TransactionHistory.page(answer.body)])
                    .compactMap { $0.moment("signedDate") }
                #expect(dates == Array(repeating: store.clock.now.rawValue, count: 5))
                expected += dates
            }
            let served = try await store.get("/simulator/pages/0", token: .some(nil)).body
                .split(separator: UInt8(ascii: "\n")).flatMap { line in
                    (try StrictJSON.parseObject(Array(line))["records"]?.array ?? []).compactMap(\.object)
                }
            #expect(served.compactMap { $0.moment("signedDate") } == expected)
            // One state of five records, three times.
            #expect(Set(served.map { "\($0["key"]?.string ?? "") \($0.moment("changed") ?? 0)" }).count == 5)
        }
    }

    @Test(arguments: [ManualClock(), ManualClock(ManualClock.anchor - .seconds(400 * 86_400))])
    func `no record is signed before its own dates, even when the world is ahead of the clock`(clock: ManualClock)
        async throws
    {
        try await TestStore.run(customers: 2, transactionsPerCustomer: 30, clock: clock) { store in
            _ = try await store.post("/simulator/advance", body: "{\"days\":3}")
            for id in try store.ids {
                let pages = try await store.pages(TestStore.history(id), decode: TransactionHistory.page)
                for record in pages.flatMap(\.records) {
                    let payload = try record.unverified
                    let signed = try #require(payload.moment("signedDate"))
                    for key in ["purchaseDate", "originalPurchaseDate", "revocationDate"] {
                        #expect(payload.moment(key) ?? 0 <= signed)
                    }
                    #expect(signed >= clock.now.rawValue)
                }
            }
        }
    }

    @Test func `a state is signed later than every earlier state, also when no time passes`() async throws {
        try await TestStore.run(customers: 1, transactionsPerCustomer: 40) { store in
            let path = TestStore.history(try #require(try store.ids.first))
            func signed() async throws -> [String: (date: Int64, isRevoked: Bool)] {
                let pages = try await store.pages(path, decode: TransactionHistory.page)
                let records = try store.payloads(pages).map { payload in
                    (
                        payload["transactionId"]?.string ?? "",
                        (payload.moment("signedDate") ?? 0, payload["revocationDate"] != nil)
                    )
                }
                return Dictionary(uniqueKeysWithValues: records)
            }
            let before = try await signed()
            _ = try await store.post("/simulator/advance", body: "{\"changes\":10}")
            let changed = try await signed().filter { id, state in
                state.isRevoked && before[id]?.isRevoked == false
            }
            #expect(!changed.isEmpty)
            for (id, state) in changed { #expect(state.date > before[id]?.date ?? .max) }
        }
    }

    @Test func `a notification keeps its own signing date and the signing dates of the records in it`() async throws {
        try await TestStore.run(customers: 20) { store in
            let body = store.wholeReach
            let first = try await store.notificationPages(body)
            store.clock.advance(by: .seconds(60))
            let second = try await store.notificationPages(body)
            #expect(try store.payloads(first).map(\.opened) == store.payloads(second).map(\.opened))
            for payload in try store.payloads(second) {
                guard let text = payload["data"]?.object?["signedTransactionInfo"]?.string else { continue }
                let inner = try store.verifier.verify(text, now: store.clock.now).json.object ?? JSONObject()
                #expect(inner.moment("signedDate") == payload.moment("signedDate"))
            }
        }
    }

    @Test func `new changes are a minute old, and one follows another`() async throws {
        try await TestStore.run(customers: 5) { store in
            store.clock.advance(by: .seconds(5 * 86_400))
            var dates: [Int64] = []
            for _ in 1...2 {
                let answer = try await store.post("/simulator/advance", body: "{\"changes\":7}").json
                dates += (answer["changes"]?.array ?? []).compactMap { $0.object?.moment("date") }
            }
            let last = store.clock.now.rawValue - 60_000 - 1
            #expect(dates == Array(last - 6...last + 7))
        }
    }

    @Test func `an old world is signed today, with certificates that are valid today`() async throws {
        try await TestStore.run(customers: 2, configure: { $0.anchor = "2012-01-01T00:00:00Z" }) { store in
            let path = TestStore.history(try #require(try store.ids.last))
            let payloads = try store.payloads(try await store.pages(path, decode: TransactionHistory.page))
            #expect(payloads.allSatisfy { $0.moment("signedDate") == store.clock.now.rawValue })
        }
    }
}

extension PageRecord {
    fileprivate var text: String {
        switch self {
        case .transaction(let jws), .refund(let jws), .notification(let jws, _), .appTransaction(let jws): jws
        case .subscriptionStatus(let subscription): subscription.transaction ?? ""
        case .order(_, let transactions): transactions.first ?? ""
        case .customerGroup, .groupMember, .seatInfo, .unusableAnswer: ""
        case .unreadable(let text): text
        }
    }

    /// What its payload says, verified or not.
    fileprivate var unverified: JSONObject {
        get throws {
            let parts = text.split(separator: ".")
            let payload = Base64.decodeURL(Array(parts[1].utf8).span)
            return try StrictJSON.parseObject(try #require(payload))
        }
    }
}
