/// Hands out how many transactions each customer has: many have few, a few have many, and the mean is kept.
struct HistorySizes {
    /// Of twenty customers, in percent of the mean.
    private static let shape = [
        0, 10, 15, 20, 25, 30, 40, 50, 55, 60, 70, 80, 90, 100, 110, 130, 150, 185, 250, 530,
    ]

    private let deck: [Int]

    /// - Parameters:
    ///   - mean: 0 to `limit`.
    ///   - limit: What no customer exceeds.
    init(mean: Int, limit: Int = WorldParameters.mostTransactions) {
        var deck = Self.shape.map { min(limit, $0 * mean / 100) }
        var missing = mean * deck.count - deck.reduce(0, +)
        // Rounding down and the limit took some away; those with room get them, so that the mean stays.
        while missing > 0 {
            for index in deck.indices.reversed() where missing > 0 && deck[index] < limit {
                deck[index] += 1
                missing -= 1
            }
        }
        self.deck = deck
    }

    func sizes(customers: Int, seed: UInt64) -> [Int] {
        stride(from: 0, to: customers, by: deck.count).flatMap { start in
            var hand = deck
            var random = SplitMix64(seed: seed, path: 3, UInt64(start))
            random.shuffle(&hand)
            return hand.prefix(customers - start)
        }
    }
}
