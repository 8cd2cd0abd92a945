package import StrictJSON

/// Decodes the body of a 200 answer into a ``Page``.
///
/// Functions throw only ``RequestFailure/badPage(reason:)``. A single bad record does not invalidate the page. It
/// becomes ``PageRecord/unreadable(_:)``.
package enum PageDecoder {
    /// The most records of a page.
    ///
    /// Apple sends 20.
    package static let recordLimit = 200
    /// The most bytes of a `revision` or `paginationToken`, which must fit into a request line.
    package static let cursorLimit = 4 * 1_024

    /// Reads a response with a list of records and a cursor.
    ///
    /// - Parameters:
    ///   - body: JSON.
    ///   - cursorName: The member with the cursor of the next page.
    ///   - recordsName: The member with the records; a missing list is an empty one.
    /// - Throws: ``RequestFailure/badPage(reason:)``.
    package static func page(
        _ body: [UInt8],
        cursor cursorName: String,
        records recordsName: String,
        read: (JSONElement) -> PageRecord
    ) throws(RequestFailure) -> Page {
        let response = try object(body)
        guard let hasMore = response["hasMore"]?.bool else {
            throw .badPage(reason: "hasMore is \(kind(of: response["hasMore"])); it must be true or false")
        }
        let cursor = try cursor(response, named: cursorName)
        guard cursor != nil || !hasMore else {
            throw .badPage(
                reason: "hasMore is true and \(cursorName) is missing or empty; the next page cannot be requested"
            )
        }
        return Page(
            records: try elements(of: response, named: recordsName).map(read),
            cursor: cursor,
            hasMore: hasMore,
            bundleId: try text(response, named: "bundleId"),
            environment: try text(response, named: "environment")
        )
    }

    /// Reads a response with a list of records and no pages.
    ///
    /// - Parameters:
    ///   - body: JSON.
    ///   - recordsName: The member with the records. It must be there, even for no records: without `hasMore`, nothing else
    ///     tells the response from another JSON object.
    ///   - read: Reads one element, which can have any number of records.
    /// - Returns: A page with all records, and no other after it.
    /// - Throws: ``RequestFailure/badPage(reason:)``.
    package static func unpagedList(
        _ body: [UInt8],
        records recordsName: String,
        read: (JSONElement) -> [PageRecord]
    ) throws(RequestFailure) -> Page {
        let response = try object(body)
        guard let value = response[recordsName], !value.isNull else {
            throw .badPage(reason: "\(recordsName) is \(kind(of: response[recordsName])); it must be an array")
        }
        return Page(
            records: try elements(of: response, named: recordsName).flatMap(read),
            cursor: nil,
            hasMore: false,
            bundleId: try text(response, named: "bundleId"),
            environment: try text(response, named: "environment")
        )
    }

    /// Reads a response with one signed record and no pages.
    ///
    /// - Parameters:
    ///   - body: JSON.
    ///   - field: The member with the JWS.
    ///   - record: What the record is.
    /// - Returns: A page with that record, and no other after it.
    /// - Throws: ``RequestFailure/badPage(reason:)``.
    package static func single(
        _ body: [UInt8],
        field: String,
        as record: (String) -> PageRecord
    ) throws(RequestFailure) -> Page {
        let value = try object(body)[field]
        guard let value, !value.isNull else { throw .badPage(reason: "\(field) is missing; it must be a JWS") }
        return Page(records: [signed(value, as: record)], cursor: nil, hasMore: false)
    }

    /// Reads an `OrderLookupResponse`.
    ///
    /// - Throws: ``RequestFailure/badPage(reason:)``.
    package static func order(_ body: [UInt8]) throws(RequestFailure) -> Page {
        let response = try object(body)
        guard let status = response["status"]?.int64, status == 0 || status == 1 else {
            throw .badPage(reason: "status is \(kind(of: response["status"])); it must be 0 (valid) or 1 (invalid)")
        }
        let signed = try elements(of: response, named: "signedTransactions")
        guard status == 1 || !signed.isEmpty else {
            throw .badPage(
                reason:
                    "status is 0 (valid) and signedTransactions is missing or empty; a valid order has a transaction"
            )
        }
        var transactions: [String] = []
        var records: [PageRecord] = []
        for element in signed {
            if let jws = element.string, !jws.isEmpty {
                transactions.append(jws)
            } else {
                records.append(.unreadable(JSONWriter.text(element.value)))
            }
        }
        records.append(.order(isValid: status == 0, transactions: transactions))
        return Page(records: records, cursor: nil, hasMore: false)
    }

    /// A record that consists of a JWS.
    package static func signed(_ element: JSONElement, as record: (String) -> PageRecord) -> PageRecord {
        guard let jws = element.string, !jws.isEmpty else { return .unreadable(JSONWriter.text(element.value)) }
        return record(jws)
    }

    /// A `subscriptionGroupIdentifierItem`: the subscriptions of one group.
    package static func subscriptionGroup(_ element: JSONElement) -> [PageRecord] {
        guard element.isObject, let subscriptions = element["lastTransactions"]?.array else {
            return [.unreadable(JSONWriter.text(element.value))]
        }
        let group = element["subscriptionGroupIdentifier"]?.string
        return subscriptions.map { subscription($0, inGroup: group) }
    }

    /// A `lastTransactionsItem`: a subscription with its status and signed records.
    private static func subscription(_ item: JSONElement, inGroup group: String?) -> PageRecord {
        let text = JSONWriter.text(item.value)
        guard item.isObject else { return .unreadable(text) }
        func nonempty(_ name: String) -> String? { item[name]?.string.flatMap { $0.isEmpty ? nil : $0 } }
        let id = nonempty("originalTransactionId")
        let status = item["status"]?.int64.flatMap(Int32.init(exactly:))
        let transaction = nonempty("signedTransactionInfo")
        let renewalInfo = nonempty("signedRenewalInfo")
        let members = [
            ("originalTransactionId", id != nil, "text"), ("status", status != nil, "an integer"),
            ("signedTransactionInfo", transaction != nil, "a JWS"), ("signedRenewalInfo", renewalInfo != nil, "a JWS"),
        ]
        let problem = members.first { !$0.1 }.map { "\($0.0) is \(kind(of: item[$0.0])); it must be \($0.2)" }
        return .subscriptionStatus(
            SubscriptionStatusItem(
                subscriptionGroupIdentifier: group,
                originalTransactionId: id,
                status: status,
                transaction: transaction,
                renewalInfo: renewalInfo,
                problem: problem,
                text: text
            )
        )
    }

    /// A `notificationHistoryResponseItem`.
    package static func notification(_ element: JSONElement) -> PageRecord {
        guard let jws = element["signedPayload"]?.string, !jws.isEmpty else {
            return .unreadable(JSONWriter.text(element.value))
        }
        guard let attempts = element["sendAttempts"], !attempts.isNull else {
            return .notification(jws: jws, sendAttempts: [])
        }
        // The normalizer records an undocumented value as one unreadable attempt.
        return .notification(jws: jws, sendAttempts: attempts.array ?? [attempts])
    }
}

extension PageDecoder {
    static func object(_ body: [UInt8]) throws(RequestFailure) -> JSONElement {
        do throws(StrictJSONError) {
            return try StrictJSON.scanObject(body)
        } catch {
            throw .badPage(
                reason:
                    "the body of \(body.count) bytes is not a valid JSON object: \(error) (\(error.reason.rawValue))"
            )
        }
    }

    /// The records; a missing list and `null` are the empty list.
    private static func elements(of response: JSONElement, named name: String) throws(RequestFailure) -> [JSONElement] {
        guard let value = response[name], !value.isNull else { return [] }
        guard let elements = value.array else {
            throw .badPage(reason: "\(name) is \(kind(of: value)); it must be an array")
        }
        guard elements.count <= recordLimit else {
            throw .badPage(reason: "\(name) has \(elements.count) records; a page has at most \(recordLimit)")
        }
        return elements
    }

    private static func cursor(_ response: JSONElement, named name: String) throws(RequestFailure) -> String? {
        guard let cursor = try text(response, named: name), !cursor.isEmpty else { return nil }
        guard cursor.utf8.count <= cursorLimit else {
            throw .badPage(reason: "\(name) has \(cursor.utf8.count) bytes; at most \(cursorLimit) can be sent back")
        }
        return cursor
    }

    private static func text(_ response: JSONElement, named name: String) throws(RequestFailure) -> String? {
        guard let value = response[name], !value.isNull else { return nil }
        guard let text = value.string else {
            throw .badPage(reason: "\(name) is \(kind(of: value)); it must be a string")
        }
        return text
    }

    private static func kind(of value: JSONElement?) -> String {
        value?.kind ?? "missing"
    }
}
