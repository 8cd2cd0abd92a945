import Basics
import Testing

@testable import Actions

/// The IDs of requests: the same after the loss of the database, and different for every row.
struct RequestIDTests {
    @Test func `an ID is a version 5 UUID as RFC 9562 computes it`() throws {
        // RFC 9562, A.4: the namespace of DNS names and www.example.com.
        let namespace = try #require(UUIDText.bytes(of: "6ba7b810-9dad-11d1-80b4-00c04fd430c8"))
        let id = RequestID.versionFive(in: namespace, "www.example.com")
        #expect(UUIDText.text(of: id) == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
    }

    @Test func `the IDs of a batch and its rows never change`() {
        let hash = String(repeating: "ab", count: 32)
        let batch = RequestID.batch(hash, occurrence: 0)
        #expect(RequestID.batch(hash, occurrence: 0) == batch)
        #expect(RequestID.batch(hash, occurrence: 1) != batch)
        let ids = (1...10_000).map { RequestID.row($0, of: batch) }
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.count == 16 && $0[6] >> 4 == 5 && $0[8] >> 6 == 2 })
    }
}
