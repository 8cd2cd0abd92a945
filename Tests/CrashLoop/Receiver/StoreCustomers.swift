import FoundationEssentials

/// Which customer each record of the store belongs to, by the ID of the customer's app transaction.
struct StoreCustomers {
    private struct Line: Decodable {
        struct Payload: Decodable {
            struct Details: Decodable { let signedTransactionInfo: String? }
            struct AppDetails: Decodable { let signedAppTransactionInfo: String? }
            let appTransactionId: String?
            let originalTransactionId: String?
            let data: Details?
            let appData: AppDetails?

            /// The signed record in a notification that names the customer.
            var signedRecord: String? { data?.signedTransactionInfo ?? appData?.signedAppTransactionInfo }
        }
        let kind, key: String
        let payload: Payload
    }

    /// By kind and key, such as `transaction 430000000000000`.
    private var customers: [String: String] = [:]
    /// The transaction IDs of each customer, also of the first transactions.
    private(set) var transactionIDs: [String: Set<String>] = [:]

    /// - Parameter world: The store's list, see `WorldListing`.
    /// - Throws: `DecodingError`.
    init(world: String) throws {
        let decoder = JSONDecoder()
        for text in world.utf8.split(separator: UInt8(ascii: "\n")) {
            let line = try decoder.decode(Line.self, from: Data(text))
            let payload =
                try line.payload.signedRecord.map { jws in
                    try decoder.decode(Line.Payload.self, from: Self.payload(of: jws))
                } ?? line.payload
            guard let customer = payload.appTransactionId else { continue }
            customers["\(line.kind) \(line.key)"] = customer
            transactionIDs[customer, default: []].formUnion([payload.originalTransactionId].compactMap(\.self))
            if line.kind == "transaction" { transactionIDs[customer, default: []].insert(line.key) }
        }
    }

    /// The customer of a record; `nil` if the record names none.
    func customer(_ kind: some StringProtocol, _ key: some StringProtocol) -> String? { customers["\(kind) \(key)"] }

    /// The customer of the record that a sentence of `LedgerBook.differences(from:)` is about.
    func customer(of sentence: String) -> String? {
        let words = sentence.split(separator: " ")
        guard words.count > 3 else { return nil }
        return words.starts(with: ["send", "attempt", "of"])
            ? customer("notification", words[3]) : customer(words[0], words[1])
    }

    private static func payload(of jws: String) -> Data {
        let parts = jws.split(separator: ".")
        guard parts.count > 1 else { return Data() }
        var text = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return Data(base64Encoded: text) ?? Data()
    }
}
