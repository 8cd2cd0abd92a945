import TestSupport

extension SimulatedStore.Requests {
    /// The most arrivals in any span of the given number of seconds, its end not included: exact, by the store's own clock.
    func most(within seconds: Int, of endpoint: String = "transactionHistory") -> Int {
        let moments = arrivals.filter { $0.endpoint == endpoint }.map(\.at).sorted()
        let span = Int64(seconds) * 1_000
        var first = 0
        var most = 0
        for last in moments.indices {
            while moments[last] - moments[first] >= span { first += 1 }
            most = max(most, last - first + 1)
        }
        return most
    }
}
