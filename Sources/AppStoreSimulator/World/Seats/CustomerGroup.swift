import AppStoreModel

/// A group of customers: the organization of every second customer, or the members of a subscription with seats.
struct CustomerGroup: Sendable, Equatable {
    enum Kind: String, Sendable {
        case organization = "ORGANIZATION"
        case consumer = "CONSUMER"
    }

    let id: String
    let kind: Kind
    /// The members' app transaction IDs, in a fixed order.
    let members: [String]

    /// The one group that the sandbox gives to customers without a CONSUMER group.
    static let placeholder = CustomerGroup(
        id: GroupPlaceholder.group,
        kind: .organization,
        members: [GroupPlaceholder.member]
    )
}

extension World {
    private static let organization = "910000000000000001"

    /// The ID of the group of a subscription with seats.
    private static func group(ofSeats originalId: UInt64) -> String {
        String(920_000_000_000_000_000 + originalId % 1_000_000_000_000_000)
    }

    /// The groups of a customer; the placeholder for one without a CONSUMER group.
    ///
    /// Source: Get Customer Groups, read 2026-11.
    func groups(of customer: Int) -> [CustomerGroup] {
        let id = customers[customer].identity.appTransactionId
        let own = consumerGroups.filter { $0.members.contains(id) }
        guard !own.isEmpty else { return [.placeholder] }
        return own + [organizationGroup].filter { $0.members.contains(id) }
    }

    /// The group with an ID; `nil` when there is none.
    func group(_ id: String) -> CustomerGroup? {
        ([.placeholder, organizationGroup] + consumerGroups).first { $0.id == id }
    }

    private var organizationGroup: CustomerGroup {
        let members = customers.filter { $0.identity.index % 2 == 1 && !$0.transactions.isEmpty }
        return CustomerGroup(
            id: Self.organization,
            kind: .organization,
            members: members.map(\.identity.appTransactionId)
        )
    }

    private var consumerGroups: [CustomerGroup] {
        customers.flatMap { customer in
            customer.subscriptions.filter { $0.last?.multiSeat != nil }.map { chain in
                let claims = seatClaims[chain[0].originalId]?.assigned ?? []
                return CustomerGroup(
                    id: Self.group(ofSeats: chain[0].originalId),
                    kind: .consumer,
                    members: [customer.identity.appTransactionId] + claims.compactMap(\.appTransactionId)
                )
            }
        }
    }
}
