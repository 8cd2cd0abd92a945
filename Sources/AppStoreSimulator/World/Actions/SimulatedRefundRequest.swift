/// A customer's request for a refund that Apple has not decided.
struct SimulatedRefundRequest: Sendable, Equatable {
    let customer: Int
    /// The index of the transaction among the customer's.
    let position: Int
    /// When the customer asked, in milliseconds since 1970.
    let date: Int64
    /// What the app's server has last answered, and when (milliseconds since 1970); `nil` when it has not answered.
    var answer: (preference: RefundPreference, date: Int64)?

    /// How long Apple waits for the answer, in milliseconds.
    static let openTime = 12 * Moment.hour

    static func == (left: Self, right: Self) -> Bool {
        (left.customer, left.position, left.date, left.answer?.preference, left.answer?.date)
            == (right.customer, right.position, right.date, right.answer?.preference, right.answer?.date)
    }
}

/// What the app's server would like Apple to decide.
enum RefundPreference: Sendable, Equatable {
    case none
    case decline
    case grantFull
    /// Thousandths of a percent that the customer has consumed; `nil` when Apple computes it.
    case grantProrated(consumed: Int64?)
}

extension World {
    /// Lets `count` customers ask for refunds, a millisecond apart.
    ///
    /// The first one is at `date` (milliseconds since 1970), or right after the previous change if that is later.
    mutating func requestRefunds(count: Int, from date: Int64) -> [WorldChange] {
        (0..<count).compactMap { _ in
            changeCount += 1
            var random = SplitMix64(seed: parameters.seed, path: 12, UInt64(changeCount))
            let start = random.below(customers.count)
            for offset in customers.indices {
                let index = (start + offset) % customers.count
                let candidates = customers[index].transactions.indices.filter { isRefundable($0, ofCustomer: index) }
                guard !candidates.isEmpty else { continue }
                now = moment(for: date)
                let request = SimulatedRefundRequest(customer: index, position: random.pick(candidates), date: now)
                refundRequests.append(request)
                return requestConsumption(for: request)
            }
            return nil
        }
    }

    private func isRefundable(_ position: Int, ofCustomer index: Int) -> Bool {
        let transaction = customers[index].transactions[position]
        return transaction.revocation == nil && !transaction.isFamilyShared
            && !refundRequests.contains { $0.customer == index && $0.position == position }
    }

    /// Decides the requests that the app's server has answered or that are older than 12 hours, and asks again about the others.
    ///
    /// - `date`: As in ``requestRefunds(count:from:)``.
    mutating func decideRefunds(from date: Int64) -> [WorldChange] {
        let requests = refundRequests
        refundRequests = []
        return requests.compactMap { request in
            // Another change may have refunded it.
            guard customers[request.customer].transactions[request.position].revocation == nil else { return nil }
            now = moment(for: max(date, (request.answer?.date ?? 0) + 1))
            guard request.answer != nil || now >= request.date + SimulatedRefundRequest.openTime else {
                refundRequests.append(request)
                return requestConsumption(for: request)
            }
            return decide(request)
        }
    }

    private mutating func requestConsumption(for request: SimulatedRefundRequest) -> WorldChange {
        record(
            NotificationKind("CONSUMPTION_REQUEST", about: .oneTime),
            customer: request.customer,
            position: request.position,
            isChanged: false
        )
    }

    private mutating func decide(_ request: SimulatedRefundRequest) -> WorldChange {
        let transaction = customers[request.customer].transactions[request.position]
        var random = SplitMix64(seed: parameters.seed, path: 13, transaction.id)
        var preference = request.answer?.preference ?? .none
        if preference == .none { preference = random.chance(percent: 50) ? .grantFull : .decline }
        switch preference {
        case .decline, .none:
            return record(
                NotificationKind("REFUND_DECLINED", about: .oneTime),
                customer: request.customer,
                position: request.position,
                isChanged: false
            )
        case .grantFull:
            return refund(customer: request.customer, position: request.position, percentage: 100_000)
        case .grantProrated(let consumed):
            let unused = consumed.map { 100_000 - $0 } ?? transaction.unusedShare(at: now)
            return refund(customer: request.customer, position: request.position, percentage: unused)
        }
    }
}

extension Transaction {
    /// The part of a subscription's period that is left at `moment`, in thousandths of a percent, at least 1.
    func unusedShare(at moment: Int64) -> Int64 {
        guard let end = expiresDate, end > purchaseDate else { return 50_000 }
        return min(99_999, max(1, (end - moment) * 100_000 / (end - purchaseDate)))
    }
}
