import AppStoreModel

/// Answers the three histories from the world: which records, from where on, and whether there are more.
struct Histories: Sendable {
    let world: ServedWorld
    let mint: CursorMint

    /// One page of Get Transaction History.
    ///
    /// - `now`: The moment of the answer, at which its records are signed.
    func transactions(of id: String, query: QueryItems, now: UnixMilliseconds) throws(APIError) -> HistoryPage {
        guard let id = TransactionID(id) else { throw .transactionId }
        let filter = try HistoryFilter(query)
        guard let (customer, all) = world.history(of: id) else { throw .transactionNotFound }
        let binding = CursorMint.Binding(text: "history\u{2}\(customer)\u{2}\(filter.text)")
        let start = try start(query[HistoryPage.revision], bound: binding)
        let ordered = filter.isDescending ? all.reversed() : all
        let rest = ordered.filter { record in
            filter.admits(record.transaction)
                && start.map { filter.isDescending ? record.position < $0 : record.position > $0 } ?? true
        }
        return page(
            rest,
            from: start ?? (filter.isDescending ? .last : .first),
            bound: binding,
            now: now,
            asked: query[HistoryPage.revision],
            namesApp: true
        ) { $0.position }
    }

    /// One page of Get Refund History, by the date of the refund.
    ///
    /// - `now`: The moment of the answer, at which its records are signed.
    func refunds(of id: String, query: QueryItems, now: UnixMilliseconds) throws(APIError) -> HistoryPage {
        guard let id = TransactionID(id) else { throw .transactionId }
        guard let (customer, all) = world.history(of: id) else { throw .transactionNotFound }
        let binding = CursorMint.Binding(text: "refunds\u{2}\(customer)")
        let start = try start(query[HistoryPage.revision], bound: binding)
        func position(_ record: StoredTransaction) -> CursorPosition? {
            record.transaction.refundDate.map { CursorPosition(date: $0, number: record.transaction.id) }
        }
        let rest = all.compactMap { record in position(record).map { (position: $0, record: record) } }
            .filter { refund in start.map { refund.position > $0 } ?? true }
            .sorted { $0.position < $1.position }
        return page(
            rest.map(\.record),
            from: start ?? .first,
            bound: binding,
            now: now,
            asked: query[HistoryPage.revision],
            namesApp: false
        ) { position($0) ?? .first }
    }

    /// One page of Get Notification History.
    ///
    /// - `now`: The moment of the answer. It decides how far back the request may reach, whether its token is still valid,
    ///   which notifications are listed by then and which attempts to deliver them were made.
    /// - `tokenLifetime`: `nil` for tokens that never expire.
    func notifications(
        body: [UInt8],
        query: QueryItems,
        now: UnixMilliseconds,
        tokenLifetime: Duration?
    ) throws(APIError) -> HistoryPage {
        let filter = try NotificationFilter(body: body, earliest: now - world.app.environment.notificationReach)
        var customer: Int?
        if let id = filter.query.transactionId {
            customer = world.customer(owning: id)
            guard customer != nil else { throw .transactionNotFound }
        }
        let binding = CursorMint.Binding(text: "notifications\u{2}\(filter.text)")
        let asked = query[HistoryPage.token]
        var place = world.firstPlace(from: filter.query.startDate.rawValue)
        if let asked {
            guard let cursor = mint.cursor(asked, bound: binding) else { throw .paginationToken }
            if let tokenLifetime, UnixMilliseconds(rawValue: cursor.issued) + tokenLifetime < now {
                throw .paginationTokenExpired
            }
            place = Int(cursor.position.number)
        }
        let found = world.notifications(
            of: customer,
            from: place,
            limit: HistoryPage.size + 1,
            where: { filter.admits($0, at: now.rawValue) }
        )
        let shown = found.prefix(HistoryPage.size)
        return HistoryPage(
            items: shown.map { .notification($0.notification, now: now.rawValue) },
            position: CursorPosition(date: 0, number: UInt64(shown.last.map { $0.place + 1 } ?? place)),
            binding: binding,
            hasMore: found.count > shown.count,
            issued: now.rawValue,
            asked: asked,
            cursorName: HistoryPage.token
        )
    }

    private func start(_ revision: String?, bound binding: CursorMint.Binding) throws(APIError) -> CursorPosition? {
        guard let revision else { return nil }
        guard let cursor = mint.cursor(revision, bound: binding) else { throw .revision }
        return cursor.position
    }

    private func page(
        _ rest: [StoredTransaction],
        from start: CursorPosition,
        bound binding: CursorMint.Binding,
        now: UnixMilliseconds,
        asked: String?,
        namesApp: Bool,
        position: (StoredTransaction) -> CursorPosition
    ) -> HistoryPage {
        let shown = rest.prefix(HistoryPage.size)
        return HistoryPage(
            items: shown.map { .transaction($0, signedDate: $0.signedDate(at: now.rawValue)) },
            position: shown.last.map(position) ?? start,
            binding: binding,
            hasMore: rest.count > shown.count,
            asked: asked,
            cursorName: HistoryPage.revision,
            namesApp: namesApp
        )
    }
}

extension CursorPosition {
    /// Before every record.
    static let first = CursorPosition(date: 0, number: 0)
    /// Behind every record.
    static let last = CursorPosition(date: .max, number: .max)
}
