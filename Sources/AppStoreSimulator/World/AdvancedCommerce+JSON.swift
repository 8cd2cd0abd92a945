/// The two forms in which Advanced Commerce details are signed. Source: `AdvancedCommerceTransactionInfo`
/// and `AdvancedCommerceRenewalInfo`, read 2026-11.
extension AdvancedCommerce {
    var transactionInfo: [UInt8] {
        jsonObject {
            $0.member("descriptors", raw: Self.descriptors(name, description))
            $0.member("estimatedTax", estimatedTax)
            $0.member("items", objects: items.map(\.transactionItem))
            $0.member("period", period)
            $0.member("requestReferenceId", requestReferenceId)
            $0.member("taxCode", taxCode)
            $0.member("taxExclusivePrice", taxExclusivePrice)
            $0.member("taxRate", taxPercent < 10 ? "0.0\(taxPercent)" : "0.\(taxPercent)")
        }
    }

    /// - `increase`: `SCHEDULED`, `PENDING` or `ACCEPTED` when the price of the first item without an offer goes up without a
    ///   request of the app's server; otherwise `nil`.
    func renewalInfo(increase: String?) -> [UInt8] {
        let contents = nextContents
        return jsonObject {
            $0.member("consistencyToken", consistencyToken)
            $0.member("descriptors", raw: Self.descriptors(contents.name, contents.description))
            $0.member("items", objects: renewalItems(increase: increase).map(\.renewalItem))
            $0.member("period", period)
            $0.member("requestReferenceId", requestReferenceId)
            $0.member("taxCode", contents.taxCode)
        }
    }

    /// `renewalPrice`: what the items cost in the next period, with offers and with increases that have been accepted, in milliunits.
    func renewalPrice(increase: String?) -> Int64 {
        renewalItems(increase: increase).reduce(0) { sum, item in
            sum + (item.increase.flatMap { $0.status == "ACCEPTED" ? $0.price : nil } ?? item.charged)
        }
    }

    private func renewalItems(increase: String?) -> [Item] {
        var items = nextContents.items
        // Apple changes no price of an item in an offer.
        let place = items.firstIndex { $0.offer == nil }
        guard let increase, let place, items[place].increase == nil else { return items }
        items[place].increase = PriceIncrease(
            price: items[place].price * 12 / 10,
            status: increase,
            dependents: items.indices.filter { $0 != place }.map { items[$0].sku }
        )
        return items
    }

    private static func descriptors(_ name: String, _ description: String) -> [UInt8] {
        jsonObject {
            $0.member("description", description)
            $0.member("displayName", name)
        }
    }
}

extension AdvancedCommerce.Item {
    fileprivate var transactionItem: [UInt8] {
        jsonObject {
            writeCommon(to: &$0)
            if !refunds.isEmpty { $0.member("refunds", objects: refunds.map(\.json)) }
            $0.member("revocationDate", revocationDate)
        }
    }

    fileprivate var renewalItem: [UInt8] {
        jsonObject { writer in
            writeCommon(to: &writer)
            guard let increase else { return }
            writer.member(
                "priceIncreaseInfo",
                raw: jsonObject {
                    $0.member("dependentSKUs", increase.dependents)
                    $0.member("price", increase.price)
                    $0.member("status", increase.status)
                }
            )
        }
    }

    private func writeCommon(to writer: inout ObjectWriter) {
        writer.member("SKU", sku)
        writer.member("description", description)
        writer.member("displayName", name)
        writer.member("offer", raw: offer?.json)
        writer.member("price", price)
    }
}

extension AdvancedCommerce.Offer {
    fileprivate var json: [UInt8] {
        jsonObject {
            $0.member("period", period)
            $0.member("periodCount", periodCount)
            $0.member("price", price)
            $0.member("reason", reason)
        }
    }
}

extension AdvancedCommerce.Refund {
    fileprivate var json: [UInt8] {
        jsonObject {
            $0.member("refundAmount", amount)
            $0.member("refundDate", date)
            $0.member("refundReason", reason)
            $0.member("refundType", type)
        }
    }
}
