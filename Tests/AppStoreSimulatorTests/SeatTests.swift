import AppStoreModel
import StrictJSON
import Testing

@testable import AppStoreSimulator

/// Groups, members and seats, which Apple has in the sandbox only.
struct SeatTests {
    private func run(customers: Int = 20, _ body: (TestStore, String) async throws -> Void) async throws {
        try await TestStore.run(
            customers: customers,
            configure: {
                $0.environment = .sandbox
                $0.seatSubscribers = 4
            }
        ) { store in try await body(store, "/groups/v1/transactions/\(try store.ids[customers])/seats") }
    }

    private func claim(_ store: TestStore, _ path: String, _ number: Int, _ member: String? = nil) async throws
        -> String?
    {
        let member = member.map { #","appTransactionId":"\#($0)""# } ?? ""
        let body = "{\"requestIdentifier\":\"00000000-0000-0000-0000-00000000000\(number)\"\(member)}"
        return try await store.post(path, body: body).json["seatClaimId"]?.string
    }

    @Test func `the same request identifier gives the same claim and takes one seat, and five claims take all`()
        async throws
    {
        try await run { store, path in
            let first = try #require(try await claim(store, path, 1))
            #expect(try await claim(store, path, 1) == first)
            #expect(try await store.get(path).json["availableSeatCount"]?.number?.int64 == 4)
            for number in 2...5 { #expect(try await claim(store, path, number) != nil) }
            let refused = try await store.post(
                path,
                body: #"{"requestIdentifier":"00000000-0000-0000-0000-000000000006"}"#
            )
            #expect(refused.status == 400 && refused.errorCode == 4_000_000)
            let delete = try await store.delete("\(path)/\(first.uppercased())")
            #expect(delete.status == 200 && delete.body.isEmpty)
            #expect(try await store.delete("\(path)/\(first)").status == 400)
            #expect(try await claim(store, path, 6) != nil)
            #expect(try await claim(store, path, 1) == first)
        }
    }

    @Test func `Apple takes the oldest seats back, and its notification names them`() async throws {
        try await run { store, path in
            let first = try #require(try await claim(store, path, 1))
            let second = try #require(try await claim(store, path, 2))
            #expect(try await store.post("/simulator/advance", body: #"{"unclaims":1}"#).status == 200)
            let left = try await store.get(path).json["assignedSeatClaimIds"]?.array?.compactMap(\.string)
            #expect(left == [second])
            let notifications = try await store.world("notification").values.compactMap(\.object)
            let unclaimed = notifications.compactMap {
                $0["unclaimInfo"]?.object?["unclaimSeatIds"]?.array?.first?.string
            }
            #expect(unclaimed == [first])
        }
    }

    @Test func `an associated member is in the group of the subscription, and others have the placeholder`()
        async throws
    {
        try await run { store, path in
            let ids = try store.ids
            let groups = { (id: String) in
                try await store.get("/groups/v1/currentGroups/\(id)").json["groups"]?.array?.compactMap {
                    $0.object?["groupId"]?.string
                }
            }
            #expect(try await groups(ids[0]) == [GroupPlaceholder.group])
            let members = try await store.get("/groups/v1/group/\(GroupPlaceholder.group)").json
            #expect(members["members"]?.array?.first?.object?["appTransactionId"]?.string == GroupPlaceholder.member)
            let member = try #require(
                try await store.world("appTransaction").values.compactMap { $0.object?["appTransactionId"]?.string }
                    .sorted().first
            )
            let claimed = try #require(try await claim(store, path, 1))
            let associate = "\(path)/\(claimed)/associate"
            #expect(try await store.post(associate, body: #"{"appTransactionId":"1"}"#).status == 400)
            #expect(try await store.post(associate, body: "{\"appTransactionId\":\"\(member)\"}").status == 200)
            let found = try #require(try await groups(member))
            let listed = try await store.get("/groups/v1/group/\(found[0])").json
            #expect(found[0] != GroupPlaceholder.group && listed["members"]?.array?.count == 2)
            #expect(listed["paginationToken"] == nil && listed["hasMore"]?.bool == false)
        }
    }

    @Test func `members come in pages with a token until the last one`() async throws {
        try await run(customers: 30) { store, _ in
            let path = "/groups/v1/group/910000000000000001"
            var (query, found): ([(String, String)], [String]) = ([("limit", "7")], [])
            while true {
                let page = try await store.get(path, query).json
                found += page["members"]?.array?.compactMap { $0.object?["appTransactionId"]?.string } ?? []
                guard page["hasMore"]?.bool == true else { break }
                query = [("limit", "7"), ("paginationToken", try #require(page["paginationToken"]?.string))]
            }
            #expect(found.count > 7 && Set(found).count == found.count)
        }
    }

    @Test func `a wrong request gets the documented code, and production has none of the calls`() async throws {
        try await run { store, path in
            let cases: [(String, [(String, String)], Int64)] = [
                ("/groups/v1/currentGroups/x", [], 4_000_006), ("/groups/v1/currentGroups/1", [], 4_040_010),
                ("/groups/v1/group/x", [], 4_000_225), ("/groups/v1/group/1", [], 4_040_022),
                ("/groups/v1/group/\(GroupPlaceholder.group)", [("limit", "101")], 4_000_004),
                ("/groups/v1/group/\(GroupPlaceholder.group)", [("paginationToken", "x")], 4_000_014),
                ("/groups/v1/transactions/\(try store.ids[23])/seats", [], 4_000_000),
            ]
            for (path, query, code) in cases { #expect(try await store.get(path, query).errorCode == code, "\(path)") }
        }
        try await TestStore.run { store in
            let id = try store.ids[0]
            #expect(try await store.get("/groups/v1/currentGroups/\(id)").status == 404)
            #expect(try await store.post("/groups/v1/transactions/\(id)/seats", body: "{}").status == 404)
        }
    }
}
