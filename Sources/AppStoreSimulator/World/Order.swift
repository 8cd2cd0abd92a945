/// One order of the world: one purchase, or two that were made together.
struct Order: Sendable, Equatable {
    let id: String
    let transactionIds: [UInt64]
}

extension World {
    /// The orders of one customer, in the order of their purchases.
    ///
    /// A transaction that a family member shares belongs to an order of that member, which is not in the world.
    func orders(ofCustomer index: Int) -> [Order] {
        let transactions = customers[index].transactions
        return transactions.indices.compactMap { position in
            order(customer: index, position: position)
        }
    }

    /// The order with this ID; `nil` when there is none.
    func order(_ id: String) -> (customer: Int, order: Order)? {
        guard let place = orderIds.place(of: id), customers.indices.contains(place.customer),
            customers[place.customer].transactions.indices.contains(place.position),
            let order = order(customer: place.customer, position: place.position)
        else { return nil }
        return (place.customer, order)
    }

    /// One order of each customer who has any, one with two transactions if possible.
    var exampleOrders: [Order] {
        customers.indices.compactMap { index in
            let orders = orders(ofCustomer: index)
            return orders.first { $0.transactionIds.count > 1 } ?? orders.first
        }
    }

    /// The order that begins with a transaction, or `nil` when none does.
    private func order(customer index: Int, position: Int) -> Order? {
        let transactions = customers[index].transactions
        let first = transactions[position]
        guard !first.isFamilyShared, first.boughtWith == nil else { return nil }
        let second = transactions.dropFirst(position + 1).prefix(1).filter { $0.boughtWith == first.id }
        return Order(
            id: orderIds.text(customer: index, position: position),
            transactionIds: [first.id] + second.map(\.id)
        )
    }
}
