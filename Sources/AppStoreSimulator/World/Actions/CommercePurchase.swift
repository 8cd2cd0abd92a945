import AppStoreModel

/// The purchase that a call of the Advanced Commerce API is about.
struct CommercePurchase: Sendable {
    let customer: Int
    /// The index of the transaction among the customer's: for a subscription the latest one, for a refund the named one.
    let position: Int
    let transaction: Transaction
    /// The subscription as it renews; `nil` for another product.
    let renewal: Renewal?

    /// The error for a repeated request for new prices: Apple does not list 4000097 for that call.
    var repeatRefusal: APIError? { hasCommunicatedIncrease ? .alreadyCommunicated : nil }

    /// Whether Apple has informed the customer that a price increases.
    var hasCommunicatedIncrease: Bool {
        transaction.advancedCommerce?.nextContents.items.contains { $0.increase.map(\.isCommunicated) ?? false }
            ?? false
    }
}

extension AdvancedCommerce.PriceIncrease {
    var isCommunicated: Bool { status != "SCHEDULED" }
}

extension World {
    /// The purchase that a transaction ID names: the latest transaction of a subscription, or the transaction itself.
    ///
    /// Throws ``APIError/transactionNotFound``.
    func commercePurchase(_ call: AdvancedCommerceCall) throws(APIError) -> CommercePurchase {
        let found = try transaction(call.transactionId)
        guard found.transaction.product.kind == .autoRenewable else {
            return CommercePurchase(
                customer: found.customer,
                position: found.position,
                transaction: found.transaction,
                renewal: nil
            )
        }
        let transactions = customers[found.customer].transactions
        let chain = transactions.filter { $0.originalId == found.transaction.originalId }
        guard let renewal = timeline(of: chain).latest(at: moment(for: call.arrival))?.renewal,
            let position = transactions.firstIndex(where: { $0.id == renewal.transaction.id })
        else { throw .transactionNotFound }
        return CommercePurchase(
            customer: found.customer,
            position: position,
            transaction: transactions[position],
            renewal: renewal
        )
    }

    /// The active subscription that a transaction ID names.
    ///
    /// - `inactive`: The error for one that is not active.
    ///
    /// Throws the error with which Apple refuses to change it.
    func activeSubscription(
        _ call: AdvancedCommerceCall,
        inactive: APIError = .inactiveSubscription
    ) throws(APIError) -> CommercePurchase {
        let purchase = try commercePurchase(call)
        guard let renewal = purchase.renewal else { throw .subscriptionDoesNotExist }
        guard !purchase.transaction.isFamilyShared else { throw .subscriptionNotEligible }
        guard renewal.state.status == 1 else { throw inactive }
        try check(call, purchase)
        return purchase
    }

    /// The active subscription with Advanced Commerce that a transaction ID names, with its contents.
    func activeCommerce(
        _ call: AdvancedCommerceCall,
        inactive: APIError = .inactiveSubscription
    ) throws(APIError) -> (purchase: CommercePurchase, commerce: AdvancedCommerce) {
        let purchase = try activeSubscription(call, inactive: inactive)
        guard let commerce = purchase.transaction.advancedCommerce else { throw .subscriptionNotEligible }
        return (purchase, commerce)
    }

    /// Throws the error for another storefront than the customer's, and for an old consistency token.
    func check(_ call: AdvancedCommerceCall, _ purchase: CommercePurchase) throws(APIError) {
        if let storefront = call.storefront, storefront != customers[purchase.customer].identity.storefront.code {
            throw .mismatchedStorefront
        }
        if let token = call.consistencyToken, token != purchase.transaction.advancedCommerce?.consistencyToken {
            throw .invalidConsistencyToken
        }
    }

    /// Changes an Advanced Commerce purchase at the moment of a call, and gives it the call's ID and a new consistency token.
    ///
    /// - `change`: Changes the contents; they are `nil` before a migration.
    /// - Returns: The purchase as it is now.
    mutating func change(
        _ purchase: CommercePurchase,
        by call: AdvancedCommerceCall,
        _ change: (inout AdvancedCommerce?) -> Void = { _ in }
    ) -> CommercePurchase {
        now = moment(for: call.arrival)
        var transaction = customers[purchase.customer].transactions[purchase.position]
        transaction.earlierCommerce.append(EarlierCommerce(date: now, commerce: transaction.advancedCommerce))
        change(&transaction.advancedCommerce)
        let token = "\(transaction.earlierCommerce.count).\(transaction.originalId).\(call.requestReferenceId)"
        transaction.advancedCommerce?.requestReferenceId = call.requestReferenceId
        transaction.advancedCommerce?.consistencyToken = token
        customers[purchase.customer].transactions[purchase.position] = transaction
        return CommercePurchase(
            customer: purchase.customer,
            position: purchase.position,
            transaction: transaction,
            renewal: purchase.renewal
        )
    }

    /// The answer to a call: the transaction and, for a subscription, its renewal info.
    ///
    /// - `date`: Of the signatures, in milliseconds since 1970.
    func answer(about purchase: CommercePurchase, at date: Int64) -> SimulatedAnswer {
        let customer = customers[purchase.customer]
        let stored = StoredTransaction(
            customer.transactions[purchase.position],
            of: customer.identity,
            signedAfter: date
        )
        let chain = customer.transactions.filter { $0.originalId == purchase.transaction.originalId }
        let status = timeline(of: chain).latest(at: max(date, now)).map { event in
            SubscriptionStatus(
                transaction: stored,
                renewal: event.renewal,
                since: max(event.date, now),
                signedDate: stored.signedDate(at: date)
            )
        }
        let renewal = purchase.renewal == nil ? nil : status.map { AnswerRecord.renewal($0, in: app) }
        let records = [
            AnswerRecord.transaction(stored, in: app, now: UnixMilliseconds(rawValue: date))
        ]
        return SimulatedAnswer(records: records + [renewal].compactMap(\.self)) { signed, json in
            if let transaction = signed.first { json.member("signedTransactionInfo", transaction) }
            if let renewal = signed.dropFirst().first { json.member("signedRenewalInfo", renewal) }
        }
    }
}

extension World {
    /// A change of a transaction, at the world's moment, about which Apple sends no notification.
    func unannouncedChange(of purchase: CommercePurchase) -> WorldChange {
        WorldChange(
            customer: purchase.customer,
            transactionId: String(purchase.transaction.id),
            position: purchase.position,
            date: now
        )
    }
}
