import AppStoreModel
import StrictJSON

/// The rules that compare a line with an earlier version of it, and with the line that it names.
extension ExternalPurchaseCheck {
    mutating func checkVersion(_ line: ReportedLine) {
        if line.isErroneous, !line.isRestatement {
            add(.erroneouslySubmittedNotRestatement, "erroneouslySubmitted", line)
        }
        guard let before = known.lines[line.id] else {
            if line.isRestatement { add(.notFound, "lineItemId", line) }
            return
        }
        guard line.isRestatement else { return add(.duplicateValue, "lineItemId", line) }
        if line.integer("creationDate") != before.integer("creationDate") {
            add(.restatementCreationDateMismatch, "creationDate", line)
        }
        if (line.integer("creationDate") ?? 0) < now - Self.year {
            add(.restatementNotAllowedCreationDate, "creationDate", line)
        }
        guard line.isErroneous else { return }
        if before.isErroneous { add(.repeatErroneousSubmission, "erroneouslySubmitted", line) }
        let isReferenced = refunds(of: line).contains { !$0.isErroneous }
        if isReferenced { add(.erroneousLineItemReferencedByValidLineItem, "erroneouslySubmitted", line) }
    }

    mutating func checkReference(_ line: ReportedLine) {
        guard let id = line.text("referenceLineItemId") else { return }
        guard id != line.id else { return add(.selfReference, "referenceLineItemId", line) }
        guard let target = lines[id] ?? known.lines[id] else { return add(.notFound, "referenceLineItemId", line) }
        if target.isErroneous, !line.isErroneous {
            add(.validLineItemReferencesErroneousLineItem, "erroneouslySubmitted", line)
        }
        if (target.integer("creationDate") ?? 0) > (line.integer("creationDate") ?? 0) {
            add(.referencedCreationDateIncompatible, "creationDate", line)
        }
        guard !target.isRefund else {
            guard line.isRefund else { return add(.referenceLineItemNotABuy, "referenceLineItemId", line) }
            return add(.refundReferencedByRefund, "lineItemId", line)
        }
        guard line.isRefund else {
            if target.has("referenceLineItemId") {
                add(.nonInitialBuyReferencedByBuy, "lineItemId", line)
            } else if target.text("subscriptionEvent") != "SUBSCRIPTION_START" {
                add(.referenceInvalidSubscriptionEvent, "referenceLineItemId", line)
            }
            return
        }
        checkRefund(line, of: target)
    }

    private mutating func checkRefund(_ line: ReportedLine, of target: ReportedLine) {
        let equal: [(String, ExternalPurchaseError)] = [
            ("reportingCurrency", .reportingCurrencyMismatch), ("pricingCurrency", .pricingCurrencyMismatch),
            ("taxCountry", .taxCountryMismatch),
        ]
        if line.rate != target.rate { add(.exchangeRateMismatch, "exchangeRate", line) }
        for (field, error) in equal where line.json[field] != target.json[field] { add(error, field, line) }
        if (line.integer("creationDate") ?? 0) > (target.integer("creationDate") ?? 0) + Self.year {
            add(.refundNotAllowedCreationDate, "creationDate", line)
        }
        let refunded = refunds(of: target).filter {
            !$0.isErroneous && ($0.integer("creationDate") ?? 0) <= (line.integer("creationDate") ?? 0)
        }
        let left =
            (target.integer("amountTaxExclusive") ?? 0)
            - refunded.reduce(0) { $0 + ($1.integer("amountTaxExclusive") ?? 0) }
        if !line.isErroneous, line.integer("netAmountTaxExclusive") != left {
            add(.incorrectNetAmount, "netAmountTaxExclusive", line)
        }
    }

    /// The newest versions of a line's refunds, including refunds in this report.
    private func refunds(of line: ReportedLine) -> [ReportedLine] {
        let ids = (known.refunds[line.id] ?? []).union(
            lines.values.filter { $0.isRefund && $0.text("referenceLineItemId") == line.id }.map(\.id)
        )
        return ids.compactMap { lines[$0] ?? known.lines[$0] }
    }
}
