package import StrictJSON

extension PageDecoder {
    /// The most members that Get Group Members returns on a page.
    ///
    /// Source: Get Group Members, App Store Server API 1.22, read 2026-11.
    package static let groupMemberLimit = 100

    /// A `GroupEntry`.
    package static func customerGroup(_ element: JSONElement) -> PageRecord {
        guard let id = groupID(element["groupId"]) else { return unusable(element, "groupId", must: "be digits") }
        var roles: [CustomerGroupItem.Role] = []
        for entry in element["roles"]?.array ?? [] {
            guard let product = entry["productId"]?.string, let role = entry["role"]?.string else {
                return unusable(element, "roles", must: "have productId and role as text")
            }
            roles.append(CustomerGroupItem.Role(productId: product, role: role))
        }
        return .customerGroup(CustomerGroupItem(groupId: id, groupType: element["groupType"]?.string, roles: roles))
    }

    /// A `GroupMemberEntry`.
    package static func groupMember(_ element: JSONElement) -> PageRecord {
        guard let id = groupID(element["appTransactionId"]) else {
            return unusable(element, "appTransactionId", must: "be digits")
        }
        return .groupMember(appTransactionId: id)
    }

    /// Reads a `GetSeatInfoResponse`.
    ///
    /// - Throws: ``RequestFailure/badPage(reason:)``.
    package static func seatInfo(_ body: [UInt8]) throws(RequestFailure) -> Page {
        let response = try object(body)
        let item = SeatInfoItem(
            totalSeatCount: try count(response, named: "totalSeatCount"),
            availableSeatCount: try count(response, named: "availableSeatCount"),
            assignedSeatClaimIds: try claims(response)
        )
        return Page(records: [.seatInfo(item)], cursor: nil, hasMore: false)
    }

    private static func claims(_ response: JSONElement) throws(RequestFailure) -> [String] {
        var ids: [String] = []
        guard let value = response["assignedSeatClaimIds"], !value.isNull else { return ids }
        guard let elements = value.array else {
            throw .badPage(reason: "assignedSeatClaimIds is \(value.kind); it must be an array of UUIDs")
        }
        for element in elements {
            guard let text = element.string, !text.isEmpty, text.utf8.count <= 64 else {
                throw .badPage(reason: "assignedSeatClaimIds has \(element.kind); it must have UUIDs")
            }
            if !ids.contains(text) { ids.append(text) }
        }
        return ids
    }

    private static func count(_ response: JSONElement, named name: String) throws(RequestFailure) -> Int32 {
        guard let count = response[name]?.int64.flatMap(Int32.init(exactly:)), count >= 0 else {
            throw .badPage(reason: "\(name) is \(response[name]?.kind ?? "missing"); it must be a count of seats")
        }
        return count
    }

    /// An ID of a group or of an app transaction: one to twenty digits.
    private static func groupID(_ element: JSONElement?) -> String? {
        element?.string.flatMap { TransactionID($0) }?.text
    }

    private static func unusable(_ element: JSONElement, _ name: String, must rule: String) -> PageRecord {
        .unusableAnswer(JSONWriter.text(element.value), reason: "\(name) must \(rule)")
    }
}
