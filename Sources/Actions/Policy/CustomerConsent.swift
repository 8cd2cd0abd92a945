import ActionKinds
import AppStoreModel
import Basics
import CSVFormat
import JobSyntax
import Ledger
import LedgerSchema
import Postgres

/// The customers of a set of refund requests who have consented.
struct CustomerConsent {
    /// `nil` if every customer has consented.
    private let consented: (column: CustomerIDColumn, ids: Set<String>)?

    /// Reads the consents of a policy, as far as the requests need them.
    ///
    /// - Throws: ``ActionInputError``, ``Postgres/PostgresError``.
    init(
        _ consent: ConsumptionPolicy.Consent,
        for requests: [RefundRequest],
        on connection: borrowing PostgresConnection
    ) throws {
        switch consent {
        case .everyCustomer:
            consented = nil
        case .listed(.csv(let path, let name)):
            guard let name, let column = CustomerIDColumn(rawValue: name) else {
                preconditionFailure("the job file reader takes no other column")
            }
            let wanted = Self.ids(of: requests, column)
            consented = (column, try Self.read(path, column, wanted))
        case .listed(.query(let sql)):
            let labels = try UserTables.first(on: connection) { connection in
                try InputFeed.columns(of: sql, [], "customerConsented.query", on: connection)
            }
            guard labels.count == 1, let column = CustomerIDColumn(rawValue: labels[0]) else {
                throw ActionInputError.consentColumn(found: labels)
            }
            let rows = try InputFeed.translating("customerConsented.query") {
                try UserTables.first(on: connection) { connection in
                    try connection.runOnce(
                        """
                        SELECT DISTINCT id::text AS id FROM (\(sql)
                        ) AS consents (id)
                         WHERE regexp_replace(lower(id::text), '^[[:space:]]*(urn:uuid:)?[{]?|[}]?[[:space:]]*$|-', '', 'g') = ANY ($1::text[])
                        """,
                        [.textArray(Self.ids(of: requests, column).map { $0.replacing("-", with: "") }.sorted())]
                    )
                }
            }
            consented = (column, Set(try rows.compactMap { Self.id(try $0.text("id"), column) }))
        case .listed(.list):
            preconditionFailure("the job file reader takes no list of consents")
        }
    }

    /// Whether the customer of a purchase consents now, by the definition that a plan uses.
    ///
    /// - Parameters:
    ///   - consent: Of the policy.
    ///   - connection: Inside a transaction.
    /// - Returns: `false` also if the ledger no longer has the purchase.
    /// - Throws: ``ActionInputError``, ``Postgres/PostgresError``.
    static func isGiven(
        _ consent: ConsumptionPolicy.Consent,
        forPurchase transactionId: String,
        of app: AppID,
        on connection: borrowing PostgresConnection
    ) throws -> Bool {
        if consent == .everyCustomer { return true }
        guard let request = try RefundRequest.ofPurchase(transactionId, of: app, on: connection) else { return false }
        return try CustomerConsent(consent, for: [request], on: connection).covers(request)
    }

    /// Whether the customer of a request has consented.
    func covers(_ request: RefundRequest) -> Bool {
        guard let consented else { return true }
        return request.customerIDs[consented.column].map(consented.ids.contains) ?? false
    }

    private static func ids(of requests: [RefundRequest], _ column: CustomerIDColumn) -> Set<String> {
        Set(requests.compactMap { $0.customerIDs[column] })
    }

    /// The ID in a cell, in the form of ``RefundRequest/customerIDs``; `nil` for another text.
    private static func id(_ cell: String, _ column: CustomerIDColumn) -> String? {
        let text = InputFeed.trimmed(cell)
        return switch column {
        case .appAccountToken: UUIDText.bytes(ofAnyForm: text).map(UUIDText.text(of:))
        case .appTransactionId, .originalTransactionId, .transactionId: TransactionID(text)?.text
        }
    }

    /// The wanted IDs that a file has in a column.
    ///
    /// A cell that is no ID is an error: the intended customer would count as one who has not consented.
    static func read(_ path: String, _ column: CustomerIDColumn, _ wanted: Set<String>) throws -> Set<String> {
        var found: Set<String> = []
        var place: Int?
        do {
            try CSVReader(path: path).forEachRecord { record in
                guard let place else {
                    let names = (0..<record.count).map(record.text)
                    place = names.firstIndex(of: column.rawValue)
                    if place == nil {
                        throw ActionInputError.missingColumn(input: path, column: column.rawValue, found: names)
                    }
                    return
                }
                guard place < record.count else { return }
                let cell = record.text(place)
                guard let id = Self.id(cell, column) else {
                    guard InputFeed.trimmed(cell).isEmpty else {
                        throw ActionInputError.badConsent(input: path, line: record.line, column: column, found: cell)
                    }
                    return
                }
                if wanted.contains(id) { found.insert(id) }
            }
        } catch let error as CSVError {
            throw ActionInputError.unreadable(error)
        }
        guard place != nil else { throw ActionInputError.unreadable(.noRecord(path: path)) }
        return found
    }
}
