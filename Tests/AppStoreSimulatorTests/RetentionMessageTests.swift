import StrictJSON
import TestSupport
import Testing

@testable import AppStoreSimulator

struct RetentionMessageTests {
    private static let root = "/inApps/v1/messaging/"
    private static let image = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
    private static let message = "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb"

    private func put(_ path: String, _ body: String, _ store: TestStore) async throws -> Int64 {
        let answer = try await store.put(Self.root + path, body: body)
        return answer.errorCode ?? Int64(answer.status)
    }

    private func delete(_ path: String, _ store: TestStore) async throws -> Int64 {
        let answer = try await store.delete(Self.root + path)
        return answer.errorCode ?? Int64(answer.status)
    }

    private func states(_ noun: String, _ store: TestStore) async throws -> [String?] {
        let items = try await store.get(Self.root + "\(noun)/list").json["\(noun)Identifiers"]?.array ?? []
        return items.map { $0.object?["\(noun)State"]?.string }
    }

    private func picture(_ width: Int = 3_840, _ height: Int = 160, colourType: UInt8 = 2) -> [UInt8] {
        TestPNG.bytes(width, height, colourType: colourType)
    }

    private func body(_ header: String = "Stay", image: String? = nil) -> String {
        let picture = image.map { #","image":{"imageIdentifier":"\#($0)","altText":"A beach"}"# } ?? ""
        return #"{"header":"\#(header)","body":"Half the price"\#(picture)}"#
    }

    @Test func `a default needs a message and an image that have passed the review, and deletions go the other way`()
        async throws
    {
        try await TestStore.run { store in
            let target = "default/com.example.monthly/en-US"
            let choice = #"{"messageIdentifier":"\#(Self.message)"}"#
            #expect(try await store.put(Self.root + "image/\(Self.image)", bytes: picture()).status == 200)
            #expect(try await put("message/\(Self.message)", body(image: Self.image), store) == 200)
            #expect(try await put(target, choice, store) == 4_030_017)
            #expect(try await states("message", store) == ["PENDING"])
            #expect(try await states("message", store) == ["APPROVED"])
            #expect(try await put(target, choice, store) == 4_030_018)
            _ = try await states("image", store)
            #expect(try await states("image", store) == ["APPROVED"])
            #expect(try await store.get(Self.root + target).errorCode == 4_040_020)
            #expect(try await put(target, choice, store) == 200)
            #expect(try await store.get(Self.root + target).json["messageIdentifier"]?.string == Self.message)

            #expect(try await delete("image/\(Self.image)", store) == 4_030_019)
            #expect(try await delete(target, store) == 200)
            #expect(try await delete("message/\(Self.message)", store) == 200)
            #expect(try await delete("message/\(Self.message)", store) == 4_040_015)
            #expect(try await delete("image/\(Self.image)", store) == 200)
            #expect(try await delete("image/\(Self.image)", store) == 4_040_014)
        }
    }

    @Test func `a request that is not valid gets the documented code`() async throws {
        try await TestStore.run(customers: 20, configure: { $0.environment = .sandbox }) {
            (store: TestStore) async throws in
            for (bytes, size, code) in [
                (picture(), "FULL_SIZE", nil), (picture(), "FULL_SIZE", 4_090_000),
                (picture(3_841), "FULL_SIZE", 4_000_161), (picture(colourType: 6), "FULL_SIZE", 4_000_161),
                (Array("text".utf8), "FULL_SIZE", 4_000_161), (picture(), "BULLET_POINT", 4_000_161),
                (picture(), "HUGE", 4_000_216),
            ] as [([UInt8], String, Int64?)] {
                let path = Self.root + "image/\(code == nil || code == 4_090_000 ? Self.image : Self.message)"
                #expect(try await store.put(path + "?imageSize=\(size)", bytes: bytes).errorCode == code)
            }
            #expect(try await states("image", store) == ["APPROVED"])
            let path = "message/\(Self.message)"
            let long = String(repeating: "x", count: 67)
            let cases: [(String, Int64)] = [
                (body(long), 4_000_162), (#"{"header":"A","body":"\#(long)\#(long)\#(long)"}"#, 4_000_163),
                (#"{"header":"A","body":"B","headerPosition":"ABOVE_IMAGE"}"#, 4_000_224),
                (body(image: Self.message), 4_000_000), (body(), 200), (body(), 4_090_001),
            ]
            for (body, code) in cases { #expect(try await put(path, body, store) == code) }
            #expect(try await put("default/a/en_us", #"{"messageIdentifier":"\#(Self.message)"}"#, store) == 4_000_164)
            #expect(try await put("default/a/en", #"{"messageIdentifier":"\#(Self.image)"}"#, store) == 4_040_015)
        }
    }

    @Test func `an identifier that ends in 0bad is rejected by the review`() async throws {
        try await TestStore.run(customers: 20, configure: { $0.reviewRequests = 1 }) {
            (store: TestStore) async throws in
            #expect(try await put("message/bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbb0bad", body(), store) == 200)
            #expect(try await states("message", store) == ["REJECTED"])
        }
    }

    @Test func `a restarted store has the same messages, and images without their bytes`() async throws {
        try await withTemporaryDirectory { directory in
            var configuration = SimulatorConfiguration(directory: directory + "/store")
            configuration.rateLimit = .none
            configuration.anchor = "2026-10-01T00:00:00Z"
            try await TestStore.run(configuration) { (store: TestStore) async throws in
                #expect(try await store.put(Self.root + "image/\(Self.image)", bytes: picture()).status == 200)
                #expect(try await states("image", store) == ["PENDING"])
            }
            try await TestStore.run(configuration) { (store: TestStore) async throws in
                #expect(try await states("image", store) == ["APPROVED"])
            }
        }
    }

    @Test func `a real-time URL needs a performance test that has passed`() async throws {
        try await TestStore.run { store in
            let url = #"{"realtimeURL":"https://example.com/retention"}"#
            #expect(try await put("realtime/url", url, store) == 4_030_026)
            #expect(try await put("realtime/url", #"{"realtimeURL":"http://example.com"}"#, store) == 4_000_215)
            let transactions = try await store.world("transaction").values.compactMap(\.object)
            let id = try #require(
                transactions.first { $0["transactionId"] == $0["originalTransactionId"] }?["transactionId"]?.string
            )
            let test = #"{"originalTransactionId":"\#(id)"}"#
            let begun = try await store.post(Self.root + "performanceTest", body: test).json
            let request = try #require(begun["requestId"]?.string)
            #expect(try await store.post(Self.root + "performanceTest", body: test).errorCode == 4_000_213)
            let result = Self.root + "performanceTest/result/\(request)"
            #expect(try await store.get(result).json["result"]?.string == "PENDING")
            #expect(try await store.get(result).json["result"]?.string == "PASS")
            #expect(try await put("realtime/url", url, store) == 200)
            #expect(try await delete("realtime/url", store) == 200)
            #expect(try await delete("realtime/url", store) == 4_040_021)
        }
    }
}
