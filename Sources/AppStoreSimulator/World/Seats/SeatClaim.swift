import AppStoreModel

/// A claim that has a seat of a subscription.
struct SeatClaim: Sendable, Equatable {
    /// A UUID in lower case.
    let id: String
    /// The member's app transaction ID; `nil` until it is associated.
    var appTransactionId: String?
}

/// The claims of one subscription.
struct SeatClaims: Sendable, Equatable {
    /// Those that have a seat, the oldest first.
    var assigned: [SeatClaim] = []
    /// The ID of every claim that was made, by the request identifier.
    var idsOfRequests: [String: String] = [:]
}

extension World {
    /// The last transaction of the subscription whose seats a request is about.
    ///
    /// Throws the error with which Apple refuses the request at `date` (milliseconds since 1970).
    func seatSubscription(_ id: TransactionID, at date: Int64) throws(APIError) -> Transaction {
        guard let purchase = purchase(originalId: id), let last = purchase.transactions.last else {
            throw customer(owning: id) == nil ? .transactionNotFound : .notOriginalTransactionId
        }
        guard last.multiSeat?.isDeveloperManaged == true, (last.expiresDate ?? 0) > date, last.revocation == nil else {
            throw .notDeveloperManagedGroup
        }
        return last
    }

    /// The place of a claim among the assigned ones of its subscription.
    func place(ofClaim id: String?, in subscription: Transaction) throws(APIError) -> Int {
        guard let id,
            let place = seatClaims[subscription.originalId]?.assigned.firstIndex(where: { $0.id == id.lowercased() })
        else { throw .seatClaimIdNotFound }
        return place
    }

    /// Throws ``APIError/appTransactionIdNotFound`` for an ID that is no customer's.
    func checkMember(_ appTransactionId: String) throws(APIError) {
        guard let id = TransactionID(appTransactionId), customer(ofAppTransaction: id) != nil else {
            throw .appTransactionIdNotFound
        }
    }

    /// Takes seats back from the oldest claims, at most `count`, and tells it (UNCLAIM_SEATS).
    ///
    /// - `date`: Milliseconds since 1970, or right after the previous change if that is later.
    mutating func unclaimSeats(count: Int, from date: Int64) -> [WorldChange] {
        var ids: [String] = []
        for original in seatClaims.keys.sorted() {
            while ids.count < count, let claim = seatClaims[original]?.assigned.first {
                seatClaims[original]?.assigned.removeFirst()
                ids.append(claim.id)
            }
        }
        guard !ids.isEmpty else { return [] }
        now = moment(for: date)
        changeCount += 1
        var random = SplitMix64(seed: parameters.seed, path: 22, UInt64(changeCount))
        return [
            record(
                Notification(
                    uuid: random.uuid(),
                    kind: .unclaimSeats,
                    date: now,
                    customer: nil,
                    content: .unclaimedSeats(ids),
                    attempts: SendAttempt.attempts(from: now, retries: false, random: &random)
                )
            )
        ]
    }
}
