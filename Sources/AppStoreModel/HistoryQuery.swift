/// The filters of Get Transaction History.
///
/// All are optional. Every page of one crawl must be requested with the same filters.
///
/// Source: Get Transaction History, query parameters, read 2026-11.
package struct HistoryQuery: Hashable, Sendable {
    package enum Sort: String, CaseIterable, Sendable {
        case ascending = "ASCENDING"
        /// Its `revision` must not be stored for a later crawl.
        case descending = "DESCENDING"
    }

    package enum ProductType: String, CaseIterable, Sendable {
        case autoRenewable = "AUTO_RENEWABLE"
        case nonRenewable = "NON_RENEWABLE"
        case consumable = "CONSUMABLE"
        case nonConsumable = "NON_CONSUMABLE"
    }

    package enum OwnershipType: String, CaseIterable, Sendable {
        /// Assigned by an organization or a group; since version 1.22 of the API.
        case assigned = "ASSIGNED"
        case familyShared = "FAMILY_SHARED"
        case purchased = "PURCHASED"
    }

    package var startDate: UnixMilliseconds?
    package var endDate: UnixMilliseconds?
    package var productIds: [String] = []
    package var productTypes: [ProductType] = []
    package var subscriptionGroupIdentifiers: [String] = []
    package var inAppOwnershipType: OwnershipType?
    package var revoked: Bool?
    package var sort: Sort?

    package init() {}
}
