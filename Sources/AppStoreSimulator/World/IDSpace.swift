import AppStoreModel

/// Assigns transaction IDs in a way that an ID identifies its customer.
///
/// Every customer has a block of IDs and uses them in ascending order, with gaps.
struct IDSpace: Sendable {
    private let first: UInt64
    private static let block: UInt64 = 100_000
    private static let step: UInt64 = 37

    /// The IDs that an app's customers can have.
    private static let app: UInt64 = 1_000_000_000_000

    init(_ parameters: WorldParameters) {
        let start: UInt64 = parameters.environment == .production ? 430_000_000_000_000 : 2_000_000_000_000_003
        first = start + UInt64(parameters.place) * Self.app
    }

    func id(customer: Int, position: Int) -> UInt64 {
        first + UInt64(customer) * Self.block + UInt64(position) * Self.step
    }

    /// The `webOrderLineItemId` of a subscription transaction.
    func lineItem(of transaction: UInt64) -> UInt64 {
        transaction + 90_000_000_000_000
    }

    /// The customer whose block contains the ID, and the ID's position in it; `nil` when the store never assigns such an ID.
    func place(of text: TransactionID) -> (customer: Int, position: Int)? {
        guard let number = UInt64(text.text), String(number) == text.text, number >= first else { return nil }
        let (customer, offset) = (number - first).quotientAndRemainder(dividingBy: Self.block)
        let (position, gap) = offset.quotientAndRemainder(dividingBy: Self.step)
        return gap == 0 ? (Int(customer), Int(position)) : nil
    }
}
