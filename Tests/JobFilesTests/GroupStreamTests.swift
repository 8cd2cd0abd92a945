import AppStoreModel
import Streams
import Testing

/// The requests and answers of groups and seats.
struct GroupStreamTests {
    private func read(_ text: String, _ page: ([UInt8]) throws -> Page) throws -> [PageRecord] {
        try page(Array(text.utf8)).records
    }

    @Test func `groups have their roles, and no group is an empty list`() throws {
        let groups =
            #"{"groups":[{"groupId":"9","groupType":"ORGANIZATION","roles":[{"productId":"p","role":"NONE"}]},{"groupId":"8","groupType":"CONSUMER"}]}"#
        #expect(
            try read(groups, CustomerGroups.page) == [
                .customerGroup(
                    .init(groupId: "9", groupType: "ORGANIZATION", roles: [.init(productId: "p", role: "NONE")])
                ),
                .customerGroup(.init(groupId: "8", groupType: "CONSUMER")),
            ]
        )
        #expect(try read(#"{"groups":[]}"#, CustomerGroups.page) == [])
        #expect(throws: RequestFailure.self) { try read("{}", CustomerGroups.page) }
    }

    @Test func `GS4 a group or member without an ID is unusable and the others are read`() throws {
        let groups = try read(
            #"{"groups":[{"groupId":7},{"groupId":"8"},{"groupId":"9","roles":[{"role":"X"}]}]}"#,
            CustomerGroups.page
        )
        #expect(
            groups == [
                .unusableAnswer(#"{"groupId":7}"#, reason: "groupId must be digits"),
                .customerGroup(.init(groupId: "8", groupType: nil)),
                .unusableAnswer(
                    #"{"groupId":"9","roles":[{"role":"X"}]}"#,
                    reason: "roles must have productId and role as text"
                ),
            ]
        )
        let members = try read(#"{"members":[{},{"appTransactionId":"7"}],"hasMore":false}"#, GroupMembers.page)
        #expect(
            members == [
                .unusableAnswer("{}", reason: "appTransactionId must be digits"), .groupMember(appTransactionId: "7"),
            ]
        )
    }

    @Test func `seats can have more claims than there are seats`() throws {
        let answer = #"{"totalSeatCount":1,"availableSeatCount":0,"assignedSeatClaimIds":["a","b","a"]}"#
        #expect(
            try read(answer, Seats.page) == [
                .seatInfo(.init(totalSeatCount: 1, availableSeatCount: 0, assignedSeatClaimIds: ["a", "b"]))
            ]
        )
    }

    @Test(arguments: [
        "{}", #"{"totalSeatCount":-1,"availableSeatCount":0,"assignedSeatClaimIds":[]}"#,
        #"{"totalSeatCount":1,"availableSeatCount":"0","assignedSeatClaimIds":[]}"#,
        #"{"totalSeatCount":1,"availableSeatCount":0,"assignedSeatClaimIds":[7]}"#,
        #"{"totalSeatCount":1,"availableSeatCount":0,"assignedSeatClaimIds":{}}"#,
    ])
    func `GS6 seats without counts or with claims of another type are no answer`(text: String) {
        #expect(throws: RequestFailure.self) { try read(text, Seats.page) }
    }

    @Test func `GS7 only a Production job is warned of calls that Apple has in the sandbox only`() {
        let names = [StreamName.seats, .groupMembers]
        #expect(SandboxOnly.warning(names, in: .sandbox) == nil && SandboxOnly.warning([], in: .production) == nil)
        #expect(
            SandboxOnly.warning(names, in: .production)?.hasPrefix("seats, groupMembers: Apple offers this only")
                == true
        )
    }
}
