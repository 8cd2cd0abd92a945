import AppStoreModel

extension Route {
    /// Get Group Members: the members of a group, at most 100 on a page.
    ///
    /// Apple does not document the default of `limit`; here it is the greatest.
    static let groupMembers = Route(
        "groupMembers",
        .get,
        "/groups/v1/group/{groupId}",
        requestsPerSecond: 50,
        isInProduction: false
    ) { request, context throws(APIError) in
        let query = try request.query
        guard let id = request.parameters["groupId"], TransactionID(id) != nil else { throw .groupId }
        var limit = PageDecoder.groupMemberLimit
        if let text = query["limit"] {
            guard let number = Int(text), (1...PageDecoder.groupMemberLimit).contains(number) else { throw .limit }
            limit = number
        }
        guard let group = context.world.group(id) else { throw .groupNotFound }
        let style = Paging.Style.groupMembers
        let binding = CursorCodec.Binding(text: "group\u{2}\(id)")
        let requestCursor = query[style.cursorName]
        var place = 0
        if let requestCursor {
            guard let cursor = context.cursors.decode(requestCursor, boundTo: binding) else { throw .paginationToken }
            place = Int(cursor.position.number)
        }
        let rest = group.members.dropFirst(place)
        let shown = rest.prefix(limit)
        var answer = SimulatedAnswer { json in
            json.member("members", objects: shown) { member, json in json.member("appTransactionId", member) }
        }
        answer.paging = Paging(
            style: style,
            requestCursor: requestCursor,
            position: CursorPosition(date: 0, number: UInt64(place + shown.count)),
            binding: binding,
            hasMore: rest.count > shown.count
        )
        return answer
    }
}
