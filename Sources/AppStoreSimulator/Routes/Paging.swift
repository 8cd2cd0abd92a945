import AppStoreModel

/// The cursor of an answer that is one page of a list, and whether more pages follow.
struct Paging: Sendable {
    /// How an endpoint calls its cursor, in the query and in the answer, and which error says that it is too old.
    struct Style: Sendable {
        let cursorName: String
        let expired: APIError
        /// Whether the last page has a cursor too.
        var isOnLastPage = true

        static let revision = Style(cursorName: "revision", expired: .revision)
        static let paginationToken = Style(cursorName: "paginationToken", expired: .paginationTokenExpired)
        static let groupMembers = Style(
            cursorName: "paginationToken",
            expired: .paginationToken,
            isOnLastPage: false
        )
    }

    let style: Style
    /// The cursor of the request; `nil` for the first page.
    let requestCursor: String?
    /// Where the next page begins.
    var position: CursorPosition
    /// The endpoint, the customer and the filters for which the next page's cursor is valid.
    let binding: CursorCodec.Binding
    /// When the next page's cursor is made, in milliseconds since 1970; 0 for cursors that never expire.
    var issued: Int64 = 0
    var hasMore: Bool
}

extension AnswerContext {
    /// The page of a customer's transactions that follows the request's `revision`.
    ///
    /// - `transactions`: All that match the request, in the order of the endpoint, each with its position in that order.
    /// - `isDescending`: Whether positions get smaller from one to the next.
    ///
    /// Throws ``APIError/revision`` for a cursor of another request.
    func page(
        of transactions: [(position: CursorPosition, record: StoredTransaction)],
        isDescending: Bool = false,
        query: QueryItems,
        boundTo binding: CursorCodec.Binding
    ) throws(APIError) -> (records: [StoredTransaction], paging: Paging) {
        let requestCursor = query[Paging.Style.revision.cursorName]
        var start = isDescending ? CursorPosition.last : .first
        var rest = transactions[...]
        if let requestCursor {
            guard let cursor = cursors.decode(requestCursor, boundTo: binding) else { throw .revision }
            start = cursor.position
            rest = rest.filter { isDescending ? $0.position < start : $0.position > start }[...]
        }
        let shown = rest.prefix(SimulatedAnswer.pageSize)
        let paging = Paging(
            style: .revision,
            requestCursor: requestCursor,
            position: shown.last?.position ?? start,
            binding: binding,
            hasMore: rest.count > shown.count
        )
        return (shown.map(\.record), paging)
    }
}
