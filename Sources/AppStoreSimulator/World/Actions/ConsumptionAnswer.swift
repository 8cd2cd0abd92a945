import AppStoreModel

extension World {
    /// The transaction with this ID, with its customer's index and its own among the customer's.
    ///
    /// Throws the error for an unknown ID, and the one for an app transaction ID.
    func transaction(_ id: TransactionID) throws(APIError) -> (customer: Int, position: Int, transaction: Transaction) {
        guard customer(ofAppTransaction: id) == nil else { throw .appTransactionIdNotSupported }
        guard let index = customer(owning: id),
            let position = customers[index].transactions.firstIndex(where: { String($0.id) == id.text })
        else { throw .transactionNotFound }
        return (index, position, customers[index].transactions[position])
    }

    /// Keeps the answer of the app's server to a refund request; a later one replaces it.
    ///
    /// Without an open request for the transaction it is kept, but decides nothing. It changes the world if it is the first answer to the
    /// open request, or differs from the last one.
    ///
    /// - `request`: Its date and content.
    mutating func answerRefundRequest(
        ofCustomer index: Int,
        position: Int,
        with preference: RefundPreference,
        for request: ActionRequest
    ) -> ActionResult {
        let key = customers[index].transactions[position].id
        var isNew = consumptionAnswers[key] != request.body
        consumptionAnswers[key] = request.body
        if let place = refundRequests.firstIndex(where: { $0.customer == index && $0.position == position }) {
            isNew = isNew || refundRequests[place].answer == nil
            refundRequests[place].answer = (preference, request.date)
        }
        actions.record(request, isApplied: isNew)
        return ActionResult(answer: SimulatedAnswer(status: 202))
    }
}
