import TestSupport
import Testing

@testable import AppStoreSimulator

@Suite struct WorldListingTests {
    @Test func `the list of one kind is a part of the whole list, and an unknown kind is refused`() async throws {
        try await TestStore.run { store in
            let whole = try await store.get("/simulator/world", token: .some(nil)).body.lines
            var count = 0
            for kind in WorldListing.kinds {
                let part = try await store.get("/simulator/world/\(kind)", token: .some(nil)).body.lines
                let expected = whole.filter { $0.starts(with: Array("{\"kind\":\"\(kind)\"".utf8)) }
                #expect(!part.isEmpty && part.count == expected.count, "\(kind)")
                // A notification is signed again in each answer.
                if kind != "notification" { #expect(part == expected, "\(kind)") }
                count += part.count
            }
            #expect(count == whole.count)
            #expect(try await store.get("/simulator/world/customer", token: .some(nil)).status == 400)
        }
    }
}
