/// The IDs with which the sandbox stands for a customer without a group.
///
/// They are the same for every customer, so they belong to none and are left out of the records. Source: Get Customer
/// Groups, Get Group Members, App Store Server API 1.22, read 2026-11.
package enum GroupPlaceholder {
    package static let group = "900000000000000000"
    package static let member = "700000000000000000"
}

/// A group of a customer, which Apple does not sign.
///
/// Source: GroupEntry, RoleEntry, App Store Server API 1.22, read 2026-11.
package struct CustomerGroupItem: Equatable, Sendable {
    package let groupId: String
    /// `ORGANIZATION` or `CONSUMER`; Apple can add types.
    package let groupType: String?
    /// The customer's role for each product, in Apple's order; only an organization has roles.
    package let roles: [Role]

    package struct Role: Equatable, Sendable {
        package let productId: String
        /// `ADMIN` or `NONE`; Apple does not publish the full list.
        package let role: String

        package init(productId: String, role: String) {
            self.productId = productId
            self.role = role
        }
    }

    package init(groupId: String, groupType: String?, roles: [Role] = []) {
        self.groupId = groupId
        self.groupType = groupType
        self.roles = roles
    }
}

/// The seats of a subscription, which Apple does not sign.
///
/// Source: GetSeatInfoResponse, App Store Server API 1.23, read 2026-11.
package struct SeatInfoItem: Equatable, Sendable {
    package let totalSeatCount: Int32
    package let availableSeatCount: Int32
    /// UUIDs; after a smaller renewal there can be more than ``totalSeatCount``.
    package let assignedSeatClaimIds: [String]

    package init(totalSeatCount: Int32, availableSeatCount: Int32, assignedSeatClaimIds: [String]) {
        self.totalSeatCount = totalSeatCount
        self.availableSeatCount = availableSeatCount
        self.assignedSeatClaimIds = assignedSeatClaimIds
    }
}
