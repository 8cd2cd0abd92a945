/// How refund history is crawled.
///
/// Apple offers no filters.
package struct RefundStream: Equatable, Sendable {
    package enum Customers: String, CaseIterable, Sendable {
        case all
        /// Only customers in whose history a revocation or a REFUND notification was seen, by this run or any earlier one.
        ///
        /// Only a crawl by ID sees whose history it is, so the job has one beside it.
        case revoked
    }

    /// The key `for`.
    package let customers: Customers
}
