import AppStoreModel

/// A request to extend all active subscriptions to a product, and how far Apple has come with it.
struct MassExtension: Sendable, Equatable {
    struct Candidate: Sendable, Equatable {
        let customer: Int
        let originalId: UInt64
    }

    /// A UUID, as the request has it.
    let requestIdentifier: String
    let productId: String
    let days: Int64
    /// ISO 3166-1 alpha-3; `nil` for all storefronts.
    let storefronts: [String]?
    /// The subscriptions that are left, in the order of their IDs.
    fileprivate var candidates: [Candidate]
    /// After how many status requests it is complete.
    fileprivate var remainingRequests: Int
    /// The original transaction IDs of the extended subscriptions.
    fileprivate(set) var succeeded: [UInt64] = []
    /// The subscriptions that could not be extended.
    fileprivate(set) var failed: [UInt64] = []
    /// Milliseconds since 1970; `nil` while Apple is at work.
    fileprivate(set) var completeDate: Int64?

    fileprivate func isNamed(_ identifier: String) -> Bool {
        requestIdentifier.lowercased() == identifier.lowercased()
    }
}

extension World {
    /// The request with this identifier, in either case; `nil` when there is none.
    func massExtension(_ requestIdentifier: String) -> MassExtension? {
        massExtensions.first { $0.isNamed(requestIdentifier) }
    }

    /// Begins to extend all subscriptions to a product that have not ended.
    ///
    /// Subscriptions of family members are left out: Apple extends them with the purchaser's.
    mutating func startMassExtension(of product: String, _ terms: ExtensionTerms, in storefronts: [String]?) {
        let candidates = customers.filter { storefronts?.contains($0.identity.storefront.code) ?? true }
            .flatMap { customer in
                subscriptions(ofCustomer: customer.identity.index, at: now)
                    .filter { event in
                        let transaction = event.renewal.transaction
                        return transaction.product.id == product && !transaction.isFamilyShared
                            && [1, 3, 4].contains(event.renewal.state.status)
                    }
                    .map {
                        MassExtension.Candidate(
                            customer: customer.identity.index,
                            originalId: $0.renewal.transaction.originalId
                        )
                    }
            }
        massExtensions.append(
            MassExtension(
                requestIdentifier: terms.requestIdentifier,
                productId: product,
                days: terms.days,
                storefronts: storefronts,
                candidates: candidates,
                remainingRequests: parameters.massExtensionRequests
            )
        )
    }

    /// Extends the next part of the subscriptions of a request; the last part completes it.
    ///
    /// - `date`: Milliseconds since 1970.
    mutating func continueMassExtension(_ requestIdentifier: String, at date: Int64) -> [WorldChange] {
        guard let place = massExtensions.firstIndex(where: { $0.isNamed(requestIdentifier) }),
            massExtensions[place].completeDate == nil
        else { return [] }
        let requests = max(1, massExtensions[place].remainingRequests)
        massExtensions[place].remainingRequests = requests - 1
        let count = (massExtensions[place].candidates.count + requests - 1) / requests
        let part = massExtensions[place].candidates.prefix(count)
        massExtensions[place].candidates.removeFirst(part.count)
        // One moment for all of them: they are different transactions, and thousands of moments would be in the future.
        now = moment(for: date)
        var changes = part.flatMap { extend($0, forRequest: place) }
        if requests == 1 { changes.append(completeMassExtension(place, at: date)) }
        return changes
    }

    private mutating func extend(_ candidate: MassExtension.Candidate, forRequest place: Int) -> [WorldChange] {
        let request = massExtensions[place]
        let chain = customers[candidate.customer].transactions.filter { $0.originalId == candidate.originalId }
        do throws(APIError) {
            let current = try extensibleTransaction(
                of: Purchase(customer: candidate.customer, transactions: chain),
                at: now
            )
            let extended = extend(
                current,
                ofCustomer: candidate.customer,
                by: request.days,
                requestIdentifier: request.requestIdentifier
            )
            massExtensions[place].succeeded.append(candidate.originalId)
            return extended?.changes ?? []
        } catch {
            massExtensions[place].failed.append(candidate.originalId)
            let latest = subscriptions(ofCustomer: candidate.customer, at: now).first {
                $0.renewal.transaction.originalId == candidate.originalId
            }
            let id = latest?.renewal.transaction.id
            guard let position = customers[candidate.customer].transactions.firstIndex(where: { $0.id == id }) else {
                return []
            }
            return [
                record(
                    NotificationKind("RENEWAL_EXTENSION", "FAILURE", about: .subscription(.active)),
                    customer: candidate.customer,
                    position: position,
                    isChanged: false
                )
            ]
        }
    }

    private mutating func completeMassExtension(_ place: Int, at date: Int64) -> WorldChange {
        now = moment(for: date)
        massExtensions[place].completeDate = now
        let request = massExtensions[place]
        return record(
            NotificationBuilder.notification(
                NotificationKind("RENEWAL_EXTENSION", "SUMMARY", about: .summary),
                at: now,
                content: .summary(
                    Notification.Summary(
                        requestIdentifier: request.requestIdentifier,
                        productId: request.productId,
                        storefronts: request.storefronts,
                        succeeded: Int64(request.succeeded.count),
                        failed: Int64(request.failed.count)
                    )
                ),
                in: app,
                seed: parameters.seed
            )
        )
    }
}
