/// Distributes transactions over customers: many have few, a few have many, and the mean is exact.
struct HistorySizes {
    /// The sizes of twenty customers, in percent of the mean.
    private static let shape = [
        0, 10, 15, 20, 25, 30, 40, 50, 55, 60, 70, 80, 90, 100, 110, 130, 150, 185, 250, 530,
    ]

    private let mean: Int
    private let limit: Int

    /// - Parameters:
    ///   - mean: 0 to `limit`.
    ///   - limit: The most transactions of one customer.
    init(mean: Int, limit: Int = WorldParameters.mostTransactions) {
        self.mean = mean
        self.limit = limit
    }

    func sizes(customers: Int, seed: UInt64) -> [Int] {
        stride(from: 0, to: customers, by: Self.shape.count).flatMap { start in
            var batch = batch(of: min(Self.shape.count, customers - start))
            var random = SplitMix64(seed: seed, path: 3, UInt64(start))
            random.shuffle(&batch)
            return batch
        }
    }

    /// Sizes for `count` customers, 1 to 20, whose sum is `count` times the mean.
    private func batch(of count: Int) -> [Int] {
        var sizes = (0..<count).map { place in
            min(limit, Self.shape[(2 * place + 1) * Self.shape.count / (2 * count)] * mean / 100)
        }
        // Rounding, the limit and a batch of less than twenty change the sum: correct it where the limits allow.
        var missing = mean * count - sizes.reduce(0, +)
        while missing != 0 {
            for index in sizes.indices.reversed() where missing > 0 && sizes[index] < limit {
                sizes[index] += 1
                missing -= 1
            }
            for index in sizes.indices.reversed() where missing < 0 && sizes[index] > 0 {
                sizes[index] -= 1
                missing += 1
            }
        }
        return sizes
    }
}
